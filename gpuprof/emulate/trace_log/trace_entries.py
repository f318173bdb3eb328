"""The entries of a trace: basic-block runs, accesses, sectors. The functions work on numbers, on arrays and in compiled
code.
"""

import numpy as np

# One run of a basic block by a warp: `block` indexes program.basic_block_starts(code), bit l of `mask` is lane l.
STEP_DTYPE = np.dtype([("block", "<u4"), ("mask", "<u4")])
# One instruction that accesses memory, has a slow path (isa/slow_paths) or sleeps for a time that the code does not say
# (isa/sleeps), executed by a warp. As one little-endian uint64, which `access_word` packs:
#
#      63..56 55..48   47..40     39..32  31..24      23..16      15..8      7..0
#     +------+--------+----------+-------+-----------+-----------+----------+-----------+
#     | +256s| uniform| conflicts| lanes | tag_passes| wavefronts| n_lookups| n_sectors |
#     +------+--------+----------+-------+-----------+-----------+----------+-----------+
ACCESS_DTYPE = np.dtype(
    [
        ("n_sectors", "u1"),  # distinct 32-byte sectors
        # distinct 128-byte lines of each eight lanes, summed; in shared memory: lanes that access another block's
        ("n_lookups", "u1"),
        ("wavefronts", "u1"),  # passes through the 32 four-byte banks
        ("tag_passes", "u1"),  # most distinct lines in one of the L1's four tag banks (coalesce.tag_bank);
        # of an operation that ended a phase of a memory barrier: the barrier's key
        ("lanes", "u1"),  # lanes that took part
        # atomics: most lanes on one address; copies to shared memory: passes through its banks; slow paths: issue slots
        # beyond the row's
        ("conflicts", "u1"),
        # 1 when all lanes agree on their address; and ON_CHIP: a load or store of what a draw's stages give each other,
        # which has no sectors
        ("uniform", "u1"),
        ("more_sectors", "u1"),  # 256s of sectors, of bulk copies
    ]
)
ON_CHIP = 2
MOST_SECTORS = 0xFFFF
N_MBARRIERS = 64  # memory barriers of a block that a trace distinguishes


def access_word(n_sectors=0, n_lookups=0, wavefronts=0, tag_passes=0, lanes=0, conflicts=0, uniform=0):
    """An ACCESS_DTYPE as uint64. n_sectors is at most MOST_SECTORS, each of the others at most 255."""
    low = np.int64(n_sectors) & 255 | np.int64(n_lookups) << 8 | np.int64(wavefronts) << 16
    low |= np.int64(tag_passes) << 24
    high = np.int64(lanes) | np.int64(conflicts) << 8 | np.int64(uniform) << 16 | np.int64(n_sectors) >> 8 << 24
    return np.uint64(low | high << 32)


def sleep_word(asked_ns):
    """The ACCESS_DTYPE of a sleep as uint64: the time, below 2 ** 24 ns, from the lowest byte on in `n_lookups`,
    `wavefronts` and `tag_passes`.
    """
    return np.uint64(asked_ns) << np.uint64(8)


def slept_ns(n_lookups, wavefronts, tag_passes):
    """The time, int64, in the record that `sleep_word` packs."""
    return np.int64(n_lookups) | np.int64(wavefronts) << 8 | np.int64(tag_passes) << 16


def join_sectors(n_sectors, more_sectors):
    """The sectors of an access, int64, from the two fields that count them."""
    return np.int64(n_sectors) + (np.int64(more_sectors) << 8)


# A sector that a store does not cover has a bit from here on for each of its eight 4-byte words that it leaves out,
# wholly or in part.
MISSING_SHIFT = 48
SECTOR_MASK = (1 << MISSING_SHIFT) - 1
SECTORS_OF_LINE = 4
# A sector that the load of a waiting loop reads (isa/spin_loops) has from there on the number of signals that it had
# had, modulo NEED_MASK + 1.
NEED_SHIFT, NEED_MASK = 48, (1 << 15) - 1
