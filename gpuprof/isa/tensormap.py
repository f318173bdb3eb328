"""The 128 bytes of a tensor map, declared once: what the host encodes, `tensormap.replace` changes and the emulator
reads.

NVIDIA does not document its own descriptor; programs may only pass it on and use `tensormap.replace`, so any layout
will do.

    byte 0     u64      global address
         8     u64 x 4  strides of dimensions 1 to 4 in bytes; dimension 0 is contiguous
        40     u32 x 5  extents of the tensor in elements
        60     u32      rank - 1
        64     u32 x 5  extents of the box (tile mode)
        84     u32 x 5  element strides: every how many-th element is taken
       104     u8       element type: ELEMENT_TYPES
       105     u8       interleave: 0 none, 1 16 bytes, 2 32 bytes
       106     u8       swizzle: SWIZZLES
       107     u8       fill of what is out of bounds: 0 zeros, 1 NaN
       108     u8       swizzle atomicity
       109     u8       mode: 0 tile, 1 im2col
       110     i16 x 3  im2col: lower corner of the box of pixels, W H D
       116     i16 x 3  im2col: upper corner
       122     u16      im2col: channels a pixel
       124     u16      im2col: pixels a column
       126     u16      MAGIC

Numbers of types, swizzles and fills are those of `tensormap.replace` (PTX ISA 9.0).
"""

import struct

NBYTES = 128
MAGIC = 0x4D54
LAYOUT = struct.Struct("<Q4Q5II5I5I6B3h3hHHH")
assert LAYOUT.size == NBYTES
OFFSETS = {
    "global_address": 0, "global_stride": 8, "global_dim": 40, "rank": 60, "box_dim": 64, "element_stride": 84,
    "elemtype": 104,
    "interleave_layout": 105, "swizzle_mode": 106, "fill_mode": 107, "swizzle_atomicity": 108, "magic": 126,
}  # fmt: skip
# Number -> (type, bytes). f32.ftz and tf32 move bits as f32 does.
ELEMENT_TYPES = {
    0: ("u8", 1), 1: ("u16", 2), 2: ("u32", 4), 3: ("s32", 4), 4: ("u64", 8), 5: ("s64", 8), 6: ("f16", 2),
    7: ("f32", 4),
    8: ("f32.ftz", 4), 9: ("f64", 8), 10: ("bf16", 2), 11: ("tf32", 4), 12: ("tf32.ftz", 4),
}  # fmt: skip
ELEMENT_NUMBERS = {name: number for number, (name, _) in ELEMENT_TYPES.items()}
SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}  # number -> bytes of the pattern's row; 0 none
