"""Tasks and their relations, read from a database for the pages that show them."""
