"""Handlers of PTX instructions for the units next to the pipes: tensor cores, texture units, the bulk copy engine."""
