"""Answers for language models (Model Context Protocol): read-only, short, about files below one directory."""
