"""What `omoide …` can do: one module for each command, each with a `run` that the command line and tests call."""
