"""The magics: %%tape, %tape, %gradient, %why and %check_gradient."""
