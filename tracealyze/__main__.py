"""Where the command begins, and `python -m tracealyze`."""

import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C ends it without a word, also while it is being loaded."""
    try:
        from tracealyze.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
