"""Handlers of PTX instructions that decide where a warp continues, or when, and of those between its lanes."""
