"""Find the cause of slow programs in syscall traces: critical path, findings, comparison of captures.

    >>> import tracealyze
    >>> trace = tracealyze.read("samples/ssh-login/ssh-login.truss")
    >>> trace.window
    <Window 11.42 s, pid 12186 sshd>
    >>> trace.findings
    [<Finding TLZ002 hot-loop: error, pid 12200 quota, saves up to 9.74 s>]
    >>> trace.calls(by=["pid", "syscall"]).to_pandas().columns[:4].tolist()
    ['pid', 'syscall', 'calls', 'failed']

The interface is `read`, `diff`, `check`, `scaling`, the classes `Trace` and `Table`, and the errors. All modules of the
package are internal and may change. See docs/python.md.
"""

from pathlib import Path

if not list(Path(__file__).parent.glob("_engine.*.so")):
    raise ImportError(
        f"{Path(__file__).parent} is the source code of tracealyze without its compiled engine: "
        "start Python in another directory to use an installed tracealyze, or run `pip install --editable .` in "
        f"{Path(__file__).parent.parent}."
    )

from tracealyze._engine import __version__
from tracealyze.capture_input.capture_info import Capture as Capture
from tracealyze.capture_input.capture_info import Loss as Loss
from tracealyze.capture_input.capture_info import Window as Window
from tracealyze.comparisons import check, diff, scaling
from tracealyze.errors import (
    GateFailed,
    MissingCapture,
    TracealyzeError,
    UnknownFormat,
    UnreadableCapture,
    UnusableInput,
    WrongUsage,
)
from tracealyze.selection import Selection as Selection
from tracealyze.table import Table
from tracealyze.trace import Trace, read

__all__ = [
    "GateFailed",
    "MissingCapture",
    "Table",
    "Trace",
    "TracealyzeError",
    "UnknownFormat",
    "UnreadableCapture",
    "UnusableInput",
    "WrongUsage",
    "__version__",
    "check",
    "diff",
    "read",
    "scaling",
]
