"""Where the wall time of a syscall capture went, who waited on whom, and what to do about it.

import tracealyze

trace = tracealyze.read("login.truss")
trace.calls(by=["pid", "syscall", "op"]).to_pandas()
"""

from tracealyze.errors import GateFailed, TracealyzeError, UnusableInput, WrongUsage
from tracealyze.trace import Capture, Loss, Selection, Table, Trace, Window, read

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
