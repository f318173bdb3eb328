"""Accesses that may not change places: those found by the bytes that they touch are those found pair by pair."""

from random import Random

from gpuprof.assemble.ir.body import Inst
from gpuprof.assemble.ir.memory_order import Accesses, conflict, is_access, is_fence, is_read_only, is_write
from gpuprof.isa.opcodes import TABLE

ROWS = [row for row in TABLE if is_access(Inst(row)) and not is_fence(Inst(row))]


def one_by_one(accesses: list[Inst], later: Inst) -> list[int]:
    return [
        index for index, inst in enumerate(accesses) if (is_write(inst) or is_write(later)) and conflict(inst, later)
    ]


def test_random_accesses():
    random = Random(1)
    n_conflicts = 0
    for _ in range(200):
        rows = random.sample(ROWS, 4)
        accesses: list[Inst] = []
        known = Accesses()
        for _ in range(30):
            inst = Inst(random.choice(rows), a=random.choice([None, 1, 2]), imm=random.randrange(-40, 40) & 0xFFFFFFFF)
            inst.outgoing = random.random() < 0.05
            if is_read_only(inst):
                continue
            expected = one_by_one(accesses, inst)
            assert sorted(known.conflicts(inst)) == expected
            n_conflicts += len(expected)
            known.add(len(accesses), inst)
            accesses.append(inst)
    assert n_conflicts > 1000
