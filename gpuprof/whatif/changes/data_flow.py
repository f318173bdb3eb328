"""Instructions that work on values of certain origins, in the order of the code."""

import numpy as np

from gpuprof.timing.state.static_program import StaticProgram


def derived(program: StaticProgram, sources: np.ndarray, passes: int = 1) -> np.ndarray:
    """bool (n_instructions,): instructions that read what `sources`, a mask, write, or what others make of it. The code
    is iterated in its order, `passes` times: twice for values that loops carry.
    """
    found = np.zeros(len(program.inst), np.bool_)
    held: set[int] = set()
    rows = [
        (int(inst["first_dep"]), int(inst["first_dep"] + inst["n_deps"] - inst["n_writes"]), int(inst["n_writes"]))
        for inst in program.inst
    ]
    for _ in range(passes):
        for index, (first, last_read, n_writes) in enumerate(rows):
            written = program.dep[last_read : last_read + n_writes].tolist()
            found[index] |= not held.isdisjoint(program.dep[first:last_read].tolist())
            if found[index] or sources[index]:
                held.update(written)
            else:
                held.difference_update(written)
    return found
