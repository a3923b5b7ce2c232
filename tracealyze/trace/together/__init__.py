"""Captures that belong together: on one axis, and what one says about the other."""
