"""Many captures: an index of them in Parquet files, and the questions about it.

    sources ─► batches ─► workers ─► store ─► questions

A capture is read once. Its numbers are those of `summarize --json`.
"""
