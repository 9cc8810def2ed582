"""What is measured, against whom, and how: one module for each piece of work. It prints JSON records.

Figures only: tests never time anything.
"""
