"""Find the cause of slow programs in syscall traces: critical path, findings, comparison of captures.

    >>> import tracealyze
    >>> trace = tracealyze.read("samples/ssh-login/ssh-login.truss")
    >>> trace.window
    <Window 11.42 s, pid 12186 sshd>
    >>> trace.findings
    [<Finding TLZ002 hot-loop: error, pid 12200 quota, saves up to 9.74 s>]
    >>> trace.calls(by=["pid", "syscall"]).to_pandas().columns[:4].tolist()
    ['pid', 'syscall', 'calls', 'failed']

Functions:

    read      captures, as a Trace
    diff      what changed between two captures
    check     captures against a baseline and budgets
    scaling   how calls grow with the problem size
    convert   the events of captures as a file of Parquet or JSON lines
    redact    a capture without secrets, as another file

Classes: `Trace` has the findings and the tables, `Table` has the rows, `Fleet` many captures.
`help(trace.findings[0])` describes a finding.

Errors, all with a message that states the remedy:

    TracealyzeError           the base of all errors
    ├── WrongUsage            an argument, a name or a condition is wrong; also a ValueError
    ├── GateFailed            a baseline was not updated, because something is worse
    └── UnusableInput         a capture cannot be used; also a ValueError
        ├── MissingCapture    no file has the name; also a FileNotFoundError
        ├── UnreadableCapture the file cannot be read; also an OSError
        └── UnknownFormat     no format fits

All modules of the package are internal and may change. See docs/python.md.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if not any(file.suffix in (".so", ".pyd") for file in Path(__file__).parent.glob("_engine.*")):
    raise ImportError(
        f"{Path(__file__).parent} is the source code of tracealyze without its compiled engine: "
        "start Python in another directory to use an installed tracealyze, or run `pip install --editable .` in "
        f"{Path(__file__).parent.parent}."
    )

if TYPE_CHECKING:
    from tracealyze._engine import __version__
    from tracealyze.base.errors import GateFailed as GateFailed
    from tracealyze.base.errors import MissingCapture as MissingCapture
    from tracealyze.base.errors import TracealyzeError as TracealyzeError
    from tracealyze.base.errors import UnknownFormat as UnknownFormat
    from tracealyze.base.errors import UnreadableCapture as UnreadableCapture
    from tracealyze.base.errors import UnusableInput as UnusableInput
    from tracealyze.base.errors import WrongUsage as WrongUsage
    from tracealyze.capture.redaction import redact
    from tracealyze.compare.comparisons import check, diff, scaling
    from tracealyze.export.conversion import convert
    from tracealyze.fleet.fleet import Fleet
    from tracealyze.model.capture_input.capture_info import Capture as Capture
    from tracealyze.model.capture_input.capture_info import Loss as Loss
    from tracealyze.model.capture_input.capture_info import Window as Window
    from tracealyze.model.selection import Selection as Selection
    from tracealyze.model.table import Table
    from tracealyze.trace.trace import Trace, read

_ERRORS = (
    *("GateFailed", "MissingCapture", "TracealyzeError", "UnknownFormat", "UnreadableCapture"),
    *("UnusableInput", "WrongUsage"),
)
# Names are imported when they are first used: pytest loads this package at every start, because of its plugin.
_MODULES = {
    "__version__": "_engine",
    **dict.fromkeys(("Capture", "Loss", "Window"), "model.capture_input.capture_info"),
    **dict.fromkeys(("check", "diff", "scaling"), "compare.comparisons"),
    "convert": "export.conversion",
    **dict.fromkeys(_ERRORS, "base.errors"),
    "Fleet": "fleet.fleet",
    "redact": "capture.redaction",
    "Selection": "model.selection",
    "Table": "model.table",
    **dict.fromkeys(("Trace", "read"), "trace.trace"),
}

# The help of the package shows what __all__ lists, and errors with about a hundred lines each that they inherit.
__all__ = [
    "Fleet",
    "Table",
    "Trace",
    "__version__",
    "check",
    "convert",
    "diff",
    "read",
    "redact",
    "scaling",
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
