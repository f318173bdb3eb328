"""The addresses of the modules of a run in the code's address space.

Usually one follows the other from FIRST_LOAD_BASE on, each at the start of a page with an empty page before it. They
can start elsewhere, or be placed at random: then each is a multiple of both instruction caches away from its usual
address. The caches are direct-mapped, so the same lines collide as usual, and the cycles stay the same.
"""

from hashlib import sha256
from math import lcm

from gpuprof.chips import Chip
from gpuprof.errors import UsageError

FIRST_LOAD_BASE = 0x10_0000
PAGE_NBYTES = 0x1000
PC_LIMIT = 1 << 32  # sample records hold 32-bit program counters
LEAST_MOVE_NBYTES, MOST_MOVE_NBYTES = 1 << 20, 1 << 26  # a chip whose caches ask for more gets other collisions


class LoadMap:
    """`first`: where the first module goes. `seed`: then they lie at random instead, each some multiple of
    `move_nbytes` off.

    Raises UsageError for an address that no module can have.
    """

    def __init__(self, first: int = FIRST_LOAD_BASE, seed: int | None = None, move_nbytes: int = LEAST_MOVE_NBYTES):
        if not PAGE_NBYTES <= first < PC_LIMIT or first % PAGE_NBYTES:
            raise UsageError(
                f"load base 0x{first:x}: it must be a multiple of 0x{PAGE_NBYTES:x} between 0x{PAGE_NBYTES:x} and "
                f"0x{PC_LIMIT - PAGE_NBYTES:x}"
            )
        self._seed, self._move_nbytes = seed, move_nbytes
        self._next = first  # the usual place of the next module
        self._taken: list[tuple[int, int]] = []  # from, to: of each module, with the empty page before it

    def place(self, code_nbytes: int) -> int:
        """The load base of the next module."""
        base = self._next
        self._next = _page_after(base + code_nbytes) + PAGE_NBYTES
        if self._seed is not None:
            base = self._random(base % self._move_nbytes, code_nbytes)
        self._taken.append((base - PAGE_NBYTES, _page_after(base + code_nbytes)))
        return base

    def _random(self, offset: int, code_nbytes: int) -> int:
        """A base that is `offset` beyond a multiple of the move, and free."""
        number = len(self._taken)
        free = [
            base
            for base in range(offset, PC_LIMIT - code_nbytes, self._move_nbytes)
            if self._is_free(base, code_nbytes)
        ]
        if not free:
            raise UsageError(f"there is no room for {code_nbytes} more bytes of code at random; leave --load-base out")
        digest = sha256(f"{self._seed} {number}".encode()).digest()
        return free[int.from_bytes(digest[:8], "little") % len(free)]

    def _is_free(self, base: int, code_nbytes: int) -> bool:
        first, last = base - PAGE_NBYTES, _page_after(base + code_nbytes)
        return first >= 0 and all(last <= start or end <= first for start, end in self._taken)


def move_nbytes(chip: Chip) -> int:
    """The step by which code can move without other lines of it colliding in the chip's instruction caches."""
    caches = [lines * chip.instruction_line_nbytes for lines in (chip.l0i_lines, chip.l1i_lines)]
    move = lcm(LEAST_MOVE_NBYTES, *caches)
    return move if move <= MOST_MOVE_NBYTES else LEAST_MOVE_NBYTES


def _page_after(address: int) -> int:
    return -(-address // PAGE_NBYTES) * PAGE_NBYTES
