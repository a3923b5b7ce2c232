"""How results are shown: a report for people, tables, and forms for programs."""
