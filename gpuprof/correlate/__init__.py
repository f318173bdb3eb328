"""Recordings to databases, NAME.gpudb: counted samples, exact counts, code and lines, for people's own queries."""
