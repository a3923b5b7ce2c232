"""The packages for data, which an installation for reports does not have."""

from __future__ import annotations

from importlib.util import find_spec

from tracealyze.base.errors import WrongUsage

DATA_PACKAGES = ("numpy", "pandas", "pyarrow")


def remedy(name: str) -> str:
    """What is missing, and the command that installs it."""
    lacks = f"this needs the package {name}, which is not installed."
    return f"{lacks} Run: python3 -m pip install 'tracealyze[pandas]'"


def must_have(*names: str) -> None:
    """Raises `WrongUsage` with the remedy if one of these packages is not installed."""
    for name in names:
        if not _is_installed(name):
            raise WrongUsage(f"{remedy(name)}.")


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:
        # It was blocked, as tests do.
        return False
