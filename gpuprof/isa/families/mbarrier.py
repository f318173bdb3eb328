"""Memory barriers in shared memory (sm_80 and later; transactions since sm_90).

The hardware has one unit (SYNCS) for them beside shared memory; slots and latency are estimates, those of a
shared-memory atomic.
"""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    common = {"space": "shared", "nbytes": 8}
    yield row(
        "MBAR.INIT", "mbarrier", "=A,R", "lsu", "store", "mbar_init", "b64", **common
    )  # b: arrivals that complete a phase
    yield row("MBAR.INVAL", "mbarrier", "=A", "lsu", "store", "mbar_inval", "b64", **common)
    # dst: the object as it was before; b: arrivals, with .TX the transaction bytes to expect before one arrival.
    for name in ("ARRIVE", "ARRIVE_DROP", "ARRIVE.TX", "ARRIVE_DROP.TX"):
        semantics = "mbar_" + name.lower().replace(".", "_")
        yield row(f"MBAR.{name}", "mbarrier", "D=A,R", "lsu", "atomic_shared", semantics, "b64", **common)
    for name in ("EXPECT_TX", "COMPLETE_TX"):
        yield row(f"MBAR.{name}", "mbarrier", "=A,R", "lsu", "store", f"mbar_{name.lower()}", "b64", **common)
    # Others must be able to run while a warp waits here, so a basic block ends, as at a barrier.
    for name in ("TEST_WAIT", "TRY_WAIT"):
        # b: what an arrival gave
        yield row(f"MBAR.{name}", "mbarrier_wait", "P=A,D", "lsu", "shared", "mbar_wait", "b64", space="barrier")
        yield row(
            f"MBAR.{name}.PARITY", "mbarrier_wait", "P=A,R", "lsu", "shared", "mbar_wait", "parity", space="barrier"
        )
