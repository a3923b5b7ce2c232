"""Where the command begins, and `python -m tracealyze`."""

import signal
import sys


def main() -> None:
    """Load the command line and run it.

    Ctrl-C ends the process at once and without a word, as it ends programs in C: while it is loaded, and while the
    engine works for many seconds without executing an instruction of Python. Nothing needs cleaning up: a baseline
    is written under another name first. A shell reports the exit code 130."""
    # In a background job of a script, the shell has set the signal to be ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from tracealyze.commands._cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
