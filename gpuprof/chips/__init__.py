"""Chips as data: one TOML file each, every number with its source; `fields` gives unit and meaning."""

from gpuprof.chips.model import Chip, altered, described, drawing_chips, list_chips, load_chip

__all__ = ["Chip", "altered", "described", "drawing_chips", "list_chips", "load_chip"]
