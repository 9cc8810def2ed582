"""The visible checks of each lab, written by `make labs`. Hidden checks never come here."""
