"""The host's requests to the GPU: memory, loaded modules, launches as text, and the command stream.

Memory (`memory`) is one arena from 0x7_0000_0000 on. Generic addresses have windows of 4 GiB besides: shared memory at
0x7E00_0000_0000, local memory at 0x7F00_0000_0000. Loaded code starts at 0x10_0000; a program counter fits 32 bits.

The handle of a texture or surface is 64 bits that hold a sampler's and an image's number (`isa/handles.py`). The images
of a device are in `AddressSpace.images`, each a view of ordinary global memory. An opaque PTX variable is 8 bytes of
global memory that hold a handle.

Blocks are numbered cluster by cluster (`commands.Launch.grid_blocks`).
"""
