"""The files and variables that a run depends on."""
