"""Measurements of the kit, alone and beside other engines. Figures only; tests never time anything."""
