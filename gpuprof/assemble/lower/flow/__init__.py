"""Handlers of PTX instructions that say where a warp goes on, or when, and of those between its lanes."""
