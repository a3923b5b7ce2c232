"""The gate: whether captures are worse than an accepted baseline, and where."""
