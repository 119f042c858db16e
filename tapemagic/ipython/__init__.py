"""The magics: %%tape, %tape, %tape_graph, %gradient, %why and %check_gradient."""
