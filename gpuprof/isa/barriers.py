"""How many barriers a block has."""

N_BARRIERS = 16  # PTX ISA, bar: "each CTA has sixteen barriers, numbered 0..15"
