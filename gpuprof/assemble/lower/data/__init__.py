"""Handlers of PTX instructions that move values: between registers, and between registers and memory."""
