"""Handlers of PTX instructions for the units beside the pipes: tensor cores, texture units, the bulk copy engine."""
