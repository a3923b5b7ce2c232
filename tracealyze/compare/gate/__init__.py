"""The gate: is this capture worse than what was accepted before, and if so, where."""
