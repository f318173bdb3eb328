"""The pace of a launch: from how long its last chunk took, whether the rest is worth several processes."""

import time

# To fork, and to copy the pages that are written to after that, takes some 30 ms in all (tests/bench/processes.py).
LEAST_SECONDS = 0.2
# No kernel runs faster. A first chunk may take long because code is loaded or compiled, so its time says little.
MOST_INSTRUCTIONS_PER_SECOND = 150e6  # of warps


class Pace:
    """`pulse`: a trace_log.launch_counters.Pulse."""

    def __init__(self, pulse):
        self._pulse, self._chunks, self._seconds_of_block = pulse, 0, 0.0

    def begin(self) -> None:
        """A chunk begins."""
        self._began, self._instructions = time.perf_counter(), self._pulse.warp_instructions

    def end(self, n_blocks: int) -> None:
        """It has ended, and had so many blocks."""
        seconds = time.perf_counter() - self._began
        if self._chunks == 0:
            executed = self._pulse.warp_instructions - self._instructions
            seconds = min(seconds, executed / MOST_INSTRUCTIONS_PER_SECOND)
        self._chunks, self._seconds_of_block = self._chunks + 1, seconds / n_blocks

    def is_long(self, n_blocks: int) -> bool:
        """True if so many blocks more take long."""
        return self._seconds_of_block * n_blocks >= LEAST_SECONDS
