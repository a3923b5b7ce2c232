"""Captures as data, without judgement: their files, their tables, and the conditions that select rows."""
