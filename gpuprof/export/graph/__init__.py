"""The control-flow graph that `--trace graph` recorded, as drawings.

NAME.gpudb ─ cfg ─> nodes and edges ─ cfg_dot, cfg_svg ─> a drawing
"""
