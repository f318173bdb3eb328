"""Clusters of blocks (sm_90): their barrier, and addresses in each other's shared memory."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

# An address in shared memory holds, from bit RANK_SHIFT on, a block's rank in its cluster plus one; 0 is the own block.
RANK_SHIFT = 24
OFFSET_MASK = (1 << RANK_SHIFT) - 1


def rows() -> Iterator[Opcode]:
    yield row("MAPA", "compute", "R=R,R", "alu", "alu", "mapa", "b32", slots=2)
    yield row("MAPA.64", "compute", "D=D,R", "alu", "alu", "mapa", "b64", slots=2)
    yield row("CTARANK", "compute", "R=R", "alu", "alu", "ctarank", "b32", slots=2)
    yield row("BAR.CLUSTER.ARRIVE", "cluster_barrier", "", "lsu", "barrier", "cluster_arrive", space="barrier")
    yield row("BAR.CLUSTER.WAIT", "cluster_barrier", "", "lsu", "barrier", "cluster_wait", space="barrier")
