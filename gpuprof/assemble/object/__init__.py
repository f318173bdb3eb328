"""The program as bytes: instructions encoded, DWARF lines and inlined frames, the ELF file around them."""
