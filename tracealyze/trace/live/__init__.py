"""A trace that is still being written: its newest part, and what the last minute was spent on."""
