"""Pictures of where the time went, for a terminal, a page, or a file of their own."""
