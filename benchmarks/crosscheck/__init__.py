"""Random programs, differentiated by tapemagic, JAX and PyTorch, whose answers have to agree."""
