"""Captures before and after reading: the files that arguments name, and what the engine reports about them."""
