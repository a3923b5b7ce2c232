"""The questions about a fleet, one file per question. Each returns the document that `--json` prints."""

QUESTIONS = ("top", "like", "trend", "compare", "outliers", "failures", "query", "sql")
"""The questions, as users type them: each is a module here and a subcommand of `fleet`."""
