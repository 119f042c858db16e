"""Operations that NumPy lacks, recorded and differentiated like NumPy functions."""
