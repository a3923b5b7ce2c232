"""The output forms of rows. `listing.py`, `events.py` and `explanation.py` each write all of them."""

from enum import StrEnum


class Form(StrEnum):
    """Output forms of rows: the values of `--format`."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
