"""The virtual registers that are live at each place. Sets of registers that cross blocks are ints used as bit sets."""

from typing import NamedTuple

import numpy as np

from gpuprof.assemble.ir.body import Body, Inst

# A position is 2 * i for what instruction i reads, 2 * i + 1 for what it writes; segments are half open.
Segment = tuple[int, int]


class Liveness(NamedTuple):
    """Live in and live out of each block. Bit i stands for `registers[i]`: only registers that cross blocks have one,
    most do not.
    """

    registers: list[int]
    live_in: list[int]
    live_out: list[int]

    def members(self, bits: int) -> list[int]:
        """The registers of a bit set."""
        if not bits:
            return []
        data = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
        registers = self.registers
        return [registers[i] for i in np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()]


def block_liveness(body: Body) -> Liveness:
    """Notes what the instructions read and write, too: `Inst.read` and `Inst.written`."""
    blocks = body.blocks
    upward, killed = zip(*(_use_and_kill(block.insts) for block in blocks), strict=True)
    registers = sorted(set().union(*upward))
    bit_of = {register: index for index, register in enumerate(registers)}
    upward = [_bits([bit_of[r] for r in used]) for used in upward]
    killed = [_bits([bit_of[r] for r in bit_of.keys() & written]) for written in killed]
    live_in = list(upward)
    live_out = [0] * len(blocks)
    # From the last block to the first, which is nearly the order in which what is live comes by.
    todo = list(range(len(blocks)))
    waiting = set(todo)
    while todo:
        index = todo.pop()
        waiting.discard(index)
        out = 0
        for successor in blocks[index].successors:
            out |= live_in[successor]
        live_out[index] = out
        new = upward[index] | (out & ~killed[index])
        if new != live_in[index]:
            live_in[index] = new
            for predecessor in blocks[index].predecessors:
                if predecessor not in waiting:
                    waiting.add(predecessor)
                    todo.append(predecessor)
    return Liveness(registers, live_in, live_out)


def _use_and_kill(insts: list[Inst]) -> tuple[set[int], set[int]]:
    used: set[int] = set()
    killed: set[int] = set()
    for inst in insts:
        inst.read = read = inst.reads()
        inst.written = written = inst.writes()
        for register in read:
            if register not in killed:
                used.add(register)
        if inst.guard is None or inst.fresh:
            killed.update(written)
    return used, killed


def _bits(indexes: list[int]) -> int:
    if not indexes:
        return 0
    data = bytearray(max(indexes) // 8 + 1)
    for index in indexes:
        data[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(data, "little")


def live_segments(body: Body, liveness: Liveness | None = None) -> dict[int, list[Segment]]:
    """The segments in which each virtual register holds a value that may still be read: ascending, disjoint.
    `liveness`: of the body, if it is known; another order of the instructions in a block has the same.
    """
    liveness = liveness or block_liveness(body)
    segments: dict[int, list[Segment]] = {}
    end = 2 * sum(len(block.insts) for block in body.blocks)
    for block, out in zip(reversed(body.blocks), reversed(liveness.live_out), strict=True):
        start = end - 2 * len(block.insts)
        ends = dict.fromkeys(liveness.members(out), end)
        position = end - 2
        for inst in reversed(block.insts):
            if inst.guard is None or inst.fresh:
                for register in inst.written:
                    segment = (position + 1, ends.pop(register, position + 2))
                    if register in segments:
                        segments[register].append(segment)
                    else:
                        segments[register] = [segment]
            else:
                for register in inst.written:
                    if register not in ends:
                        ends[register] = position + 2
            for register in inst.read:
                if register not in ends:
                    ends[register] = position + 1
            position -= 2
        for register, stop in ends.items():
            segments.setdefault(register, []).append((start, stop))
        end = start
    for parts in segments.values():
        if len(parts) > 1:
            parts[:] = _merge(parts[::-1])
    return segments


def _merge(parts: list[Segment]) -> list[Segment]:
    """Joins segments that touch."""
    merged: list[Segment] = []
    for start, stop in parts:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def overlap(a: list[Segment], b: list[Segment]) -> bool:
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i][1] <= b[j][0]:
            i += 1
        elif b[j][1] <= a[i][0]:
            j += 1
        else:
            return True
    return False


def union(a: list[Segment], b: list[Segment]) -> list[Segment]:
    return _merge(sorted(a + b))
