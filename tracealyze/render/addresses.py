"""Where the documents are on the web. The release workflow replaces OWNER by the owner of the repository."""

REPOSITORY = "https://github.com/OWNER/tracealyze"

SITE = "https://OWNER.github.io/tracealyze/"
"""The documentation, as `make site` builds it."""

_PACKAGED_CODES = "TLZ"


def rule_page(name: str, code: str) -> str | None:
    """The page of a packaged rule. Rules of users have none."""
    return f"{SITE}rules/{name}.html" if code.startswith(_PACKAGED_CODES) else None
