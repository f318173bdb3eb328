"""The way of the readable timing model's sample records: a queue for each SM and the buffer behind them, one cycle
after another.
"""

import math
from collections import Counter
from fractions import Fraction

BUFFER_ADDRESS = 1 << 34


def in_ticks(cycles):
    return Fraction(round(cycles * 64), 64)


class Way:
    """From the cells of a GPU into its event buffer. `samples` are the records that got there."""

    def __init__(self, gpu, sampling, record_nbytes):
        self.gpu, self.sampling, self.record_nbytes = gpu, sampling, record_nbytes
        self.drain = sampling.drain_cycles or gpu.chip.sampler_drain_cycles
        self.poll = sampling.poll_cycles or round(gpu.chip.clock_mhz * 1000 * 100)  # 100 ms
        self.fifos = {sm.number: [] for sm in gpu.sms}  # (record, its grid, since when it is there)
        self.leaving = dict.fromkeys(self.fifos)  # when the first of them leaves, once that is settled
        self.left = dict.fromkeys(self.fifos, 0)  # when the last one left
        self.stored = Counter()
        self.nbytes = 0  # in the buffer
        self.samples, self.due, self.lost_in_fifo, self.lost_in_buffer = [], Counter(), Counter(), Counter()

    def put(self, sm, grid, record, t):
        """Whether a record of a grid has a place."""
        fifo = self.fifos[sm.number]
        self.due[grid, sm.number] += 1
        if len(fifo) == self.sampling.fifo_depth:
            self.lost_in_fifo[grid, sm.number] += 1
            return False
        fifo.append((record, grid, t))
        return True

    def losses(self):
        """Grid -> (SM, due, lost in its FIFO, lost in the buffer) of each SM that had some."""
        found = {}
        for key in sorted(self.due):
            found.setdefault(key[0], []).append(
                (key[1], self.due[key], self.lost_in_fifo[key], self.lost_in_buffer[key])
            )
        return found

    def waits(self):
        return any(self.fifos.values())

    def cycle(self, sm, t):
        """What leaves the SM in cycle t, before its issues. The SMs come in the order of their numbers."""
        number, fifo = sm.number, self.fifos[sm.number]
        if number == 0 and t % self.poll == 0:
            self.nbytes = 0
        if fifo and self.leaving[number] is None and max(fifo[0][2], self.left[number]) + self.drain == t:
            self.leaving[number] = t if self.sampling.stream == "aux" else self.store(sm, t)
        if fifo and self.leaving[number] == t:
            self.leaving[number], self.left[number] = None, t
            record, grid, _ = fifo.pop(0)
            if self.nbytes + self.record_nbytes > self.sampling.buffer_nbytes:
                self.lost_in_buffer[grid, number] += 1
            else:
                self.nbytes += self.record_nbytes
                self.samples.append(record)

    def store(self, sm, t):
        """The record goes to the load/store unit in cycle t. Each SM has an equal part of the buffer, and fills it over
        and over.
        """
        chip = self.gpu.chip
        passes = max(
            Fraction(1),
            *(in_ticks(cycles) for cycles in (chip.lsu_cycles, chip.tag_pass_cycles, chip.tag_lookup_cycles)),
        )
        begin = sm.take_turn(t, passes, None)  # no warp's
        part = max(128, self.sampling.buffer_nbytes // chip.sms // 128 * 128)
        apart = next(size for size in (8, 16, 32, 64, 128) if size >= self.record_nbytes)
        address = BUFFER_ADDRESS + sm.number * part + self.stored[sm.number] * apart % part
        self.stored[sm.number] += 1
        sectors = range(address // 32, (address + self.record_nbytes - 1) // 32 + 1)
        written = range(address // 4, (address + self.record_nbytes) // 4)
        missing = sum(1 << word % 32 for word in range(sectors[0] * 8, sectors[-1] * 8 + 8) if word not in written)
        self.gpu.grid = self.fifos[sm.number][0][1]
        self.gpu.request(
            sm, math.ceil(begin), address // 128, sum(1 << s % 4 for s in sectors), "write", t, missing=missing
        )
        return math.ceil(begin)
