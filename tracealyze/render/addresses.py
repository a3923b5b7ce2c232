"""Where the documents are on the web. The release workflow replaces OWNER by the owner of the repository."""

from __future__ import annotations

REPOSITORY = "https://github.com/OWNER/tracealyze"

SITE = "https://OWNER.github.io/tracealyze/"
"""The documentation, as `make site` builds it."""

_PACKAGED_CODES = "TLZ"


# In two parts, so that the workflow does not replace it as well.
_IS_RELEASED = "OWNER" not in SITE


def page(path: str) -> str | None:
    """A page of the documentation. A clone does not know where it is published: a link there would be dead."""
    return f"{SITE}{path}" if _IS_RELEASED else None


def rule_page(name: str, code: str) -> str | None:
    """The page of a packaged rule. Rules of users have none."""
    return page(f"rules/{name}.html") if code.startswith(_PACKAGED_CODES) else None
