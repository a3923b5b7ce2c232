"""Find the cause of slow programs in syscall traces: critical path, findings, comparison of captures.

import tracealyze

trace = tracealyze.read("login.truss")
trace.calls(by=["pid", "syscall", "op"]).to_pandas()
"""

from tracealyze.capture_input.capture_info import Capture, Loss, Window
from tracealyze.errors import GateFailed, TracealyzeError, UnusableInput, WrongUsage
from tracealyze.selection import Selection
from tracealyze.table import Table
from tracealyze.trace import Trace, read

__all__ = [
    "Capture",
    "GateFailed",
    "Loss",
    "Selection",
    "Table",
    "Trace",
    "TracealyzeError",
    "UnusableInput",
    "Window",
    "WrongUsage",
    "read",
]
