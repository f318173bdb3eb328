"""The entries of caches that are files, and a lock on a cache folder."""
