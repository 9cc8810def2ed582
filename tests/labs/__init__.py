"""Tests of the labs: their checks, their build, their notebooks, their pictures."""
