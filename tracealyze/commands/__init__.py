"""The subcommands, one module each, named as the word that users type."""
