"""Tests of the house itself: packaging, the two commands, the floors and the rules of style."""
