"""Grading: grafting, judging in a sandbox, and the hooks into nbgrader.

Truth is found outside the learner's process: an answer runs in a sandboxed worker, the checks
run here. A check that did not run has not passed (convention 15 of the architecture).
"""
