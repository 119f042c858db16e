"""The magics: %%tape, %tape and %gradient."""
