"""The gpubin file: its layout, declared once, and its reader. `assemble.object.elf` writes it."""
