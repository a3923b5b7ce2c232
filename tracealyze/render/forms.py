"""The output forms of rows. `listing.py`, `events.py` and `explanation.py` each write all of them."""

from enum import StrEnum


class Form(StrEnum):
    """Output forms of rows: the values of `--format`."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


BRIEF_TOKENS = 2000
"""Default length of a short report: most language models warn or truncate well above it."""
MIN_BRIEF_TOKENS = 200
