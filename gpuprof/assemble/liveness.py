"""Which virtual registers are live where. Sets of registers are ints used as bit sets."""

from gpuprof.assemble.ir import Body

# A position is 2 * i for what instruction i reads, 2 * i + 1 for what it writes; segments are half open.
Segment = tuple[int, int]


def block_liveness(body: Body) -> tuple[list[int], list[int]]:
    """(live in, live out) of each block, as bit sets over virtual registers."""
    blocks = body.blocks
    upward, killed = zip(*(_use_and_kill(block.insts) for block in blocks), strict=True)
    live_in = list(upward)
    live_out = [0] * len(blocks)
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
    return live_in, live_out


def _use_and_kill(insts: list) -> tuple[int, int]:
    used: set[int] = set()
    killed: set[int] = set()
    for inst in insts:
        used.update(r for r in inst.reads() if r not in killed)
        if inst.kills:
            killed.update(inst.writes())
    return _bits(used), _bits(killed)


def _bits(registers: set[int]) -> int:
    if not registers:
        return 0
    data = bytearray(max(registers) // 8 + 1)
    for register in registers:
        data[register >> 3] |= 1 << (register & 7)
    return int.from_bytes(data, "little")


def members(bits: int) -> list[int]:
    """Registers of a bit set, ascending."""
    result = []
    for index, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            result.append(index * 8 + low.bit_length() - 1)
            byte ^= low
    return result


def live_segments(body: Body) -> dict[int, list[Segment]]:
    """Where each virtual register holds a value somebody may still read: ascending, disjoint segments."""
    _, live_out = block_liveness(body)
    segments: dict[int, list[Segment]] = {}
    end = 2 * sum(len(block.insts) for block in body.blocks)
    for block, out in zip(reversed(body.blocks), reversed(live_out), strict=True):
        start = end - 2 * len(block.insts)
        ends = dict.fromkeys(members(out), end)
        position = end - 2
        for inst in reversed(block.insts):
            for register in inst.writes():
                stop = ends.pop(register, position + 2) if inst.kills else ends.setdefault(register, position + 2)
                if inst.kills:
                    segments.setdefault(register, []).append((position + 1, stop))
            for register in inst.reads():
                ends.setdefault(register, position + 1)
            position -= 2
        for register, stop in ends.items():
            segments.setdefault(register, []).append((start, stop))
        end = start
    return {register: _merge(parts[::-1]) for register, parts in segments.items()}


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
