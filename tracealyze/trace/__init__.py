"""What `tracealyze.read()` returns, and its answers: the outcome, the summary, what a fix would save."""
