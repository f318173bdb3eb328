"""Atomic operations one lane after the other, compiled by Numba: exact for any number of lanes on one address."""

import numpy as np

from gpuprof.jit.cached import cached_njit

ADD, AND, OR, XOR, MIN, MAX, INC, DEC, EXCH, CAS = range(10)
CODES = {
    "add": ADD,
    "and": AND,
    "or": OR,
    "xor": XOR,
    "min": MIN,
    "max": MAX,
    "inc": INC,
    "dec": DEC,
    "exch": EXCH,
    "cas": CAS,
}


@cached_njit
def integers(code, memory, index, value, other, old):
    """For each i in order: old[i] = memory[index[i]], then memory[index[i]] = what operation `code` makes of old[i] and
    value[i].

    CAS compares with value[i] and stores other[i].
    """
    for i in range(len(index)):
        at = index[i]
        before = memory[at]
        given = value[i]
        old[i] = before
        if code == ADD:
            memory[at] = before + given
        elif code == AND:
            memory[at] = before & given
        elif code == OR:
            memory[at] = before | given
        elif code == XOR:
            memory[at] = before ^ given
        elif code == MIN:
            memory[at] = min(before, given)
        elif code == MAX:
            memory[at] = max(before, given)
        elif code == INC:
            memory[at] = 0 if before >= given else before + 1
        elif code == DEC:
            memory[at] = given if before == 0 or before > given else before - 1
        elif code == EXCH:
            memory[at] = given
        elif code == CAS and before == given:
            memory[at] = other[i]


@cached_njit
def add_floats(memory, index, value, tiny, nan, old):
    """Adds in order; magnitudes below `tiny` (0 to keep all) count as zero, before and after. NaN results become
    `nan`.
    """
    for i in range(len(index)):
        at = index[i]
        before = memory[at]
        old[i] = before
        a = before if abs(before) >= tiny or before != before else before * 0
        b = value[i] if abs(value[i]) >= tiny or value[i] != value[i] else value[i] * 0
        total = a + b
        if total != total:
            memory[at] = nan
        else:
            memory[at] = total if abs(total) >= tiny else total * 0


def rounds(index: np.ndarray):
    """Positions of the first, the second, the third... lane on each address: arrays in which no address occurs
    twice.
    """
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    round_of = np.arange(len(order)) - start
    for k in range(int(round_of.max(initial=-1)) + 1):
        yield order[round_of == k]
