"""`python -m tracealyze`."""

from tracealyze.cli import main

main()
