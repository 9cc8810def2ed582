"""One module for each command of `python -m grader`. See `grader.cli` for how to add one."""
