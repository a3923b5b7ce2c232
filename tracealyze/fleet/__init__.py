"""Many captures: an index in Parquet files, and the questions it answers."""
