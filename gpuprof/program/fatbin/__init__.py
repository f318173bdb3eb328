"""Device code as nvcc packs it into executables: fatbins, and the two ways in which they are compressed."""
