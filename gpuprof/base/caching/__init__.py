"""The entries of caches that are files."""
