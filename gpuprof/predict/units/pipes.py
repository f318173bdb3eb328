"""The pipes of a partition: a warp's instruction keeps one of n lanes for 32 / n cycles."""

import numpy as np

from gpuprof.predict.opcode_facts import PIPES
from gpuprof.predict.work import Work


def pipes(work: Work) -> dict[str, np.ndarray]:
    return {pipe: work.executions @ work.facts.busy[pipe] for pipe in PIPES}
