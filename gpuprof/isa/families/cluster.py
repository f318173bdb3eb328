"""Clusters of blocks (sm_90): their barrier, and addresses in each other's shared memory."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    # A shared::cluster address holds the block's rank plus one from bit 24 on; 0 is the thread's own block.
    yield row("MAPA", "compute", "R=R,R", "alu", "alu", "mapa", "b32", slots=2)
    yield row("MAPA.64", "compute", "D=D,R", "alu", "alu", "mapa", "b64", slots=2)
    yield row("CTARANK", "compute", "R=R", "alu", "alu", "ctarank", "b32", slots=2)
    yield row("BAR.CLUSTER.ARRIVE", "cluster_barrier", "", "lsu", "barrier", "cluster_arrive", space="barrier")
    yield row("BAR.CLUSTER.WAIT", "cluster_barrier", "", "lsu", "barrier", "cluster_wait", space="barrier")
