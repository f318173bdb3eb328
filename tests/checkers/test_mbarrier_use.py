"""synccheck: planted misuse of mbarriers, and what would have been right."""

from typing import NamedTuple

import pytest

from gpuprof.errors import KernelFault
from gpuprof.trace.checkers.synccheck import Synccheck
from tests.checkers.test_async_races import PRELUDE
from tests.support.planted import Planted, in_short

OWN = "__shared__ u64 a, b; if (t == 0) {{ init(&a, {a}); init(&b, {b}); }} __syncthreads();"
INVAL = 'asm volatile("mbarrier.inval.shared.b64 [%0];" M(at(&a)) : "memory");'
FAR = 'unsigned far; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(&a)), "r"(1 - block));'
ARRIVE_FAR = (
    'if (t == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" M(far) : "memory");'
)
MEET = 'asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");'


class Case(NamedTuple):
    """A kernel body (t is the thread, `block` the block of a cluster of two) for 64 threads, and what is found.
    `ends`: a fault ends it.
    """

    name: str
    body: str
    found: tuple[tuple[str, int], ...] = ()
    ends: bool = False
    cluster: int = 1


def _own(a: int = 64, b: int = 1) -> str:
    return OWN.format(a=a, b=b)


CASES = [
    Case("whole", _own() + "arrive(&a); wait(&a, 0); arrive(&a); wait(&a, 1);"),
    Case("not_initialized", "__shared__ u64 a; if (t == 0) arrive(&a);", (("mbarrier_not_initialized", 1),), True),
    Case("waits_for_nothing", "__shared__ u64 a; if (t == 0) wait(&a, 0);", (("mbarrier_not_initialized", 1),), True),
    Case("after_inval", _own(1) + f"if (t == 0) {{ {INVAL} arrive(&a); }}", (("mbarrier_not_initialized", 1),), True),
    Case("too_many", _own(63) + "if (t < 32) arrive(&a); __syncthreads(); if (t >= 32) arrive(&a);"),
    Case("too_many_bytes_missing", _own(1) + "if (t < 2) expect(&a, 16);", (("mbarrier_overflow", 1),), True),
    Case("initialized_again", _own() + "arrive(&a); wait(&a, 0); __syncthreads(); if (t == 0) init(&a, 64);",
         (("mbarrier_reinitialized", 1),)),
    Case("initialized_after_inval", _own() + f"arrive(&a); wait(&a, 0); __syncthreads(); if (t == 0) {{ {INVAL}"
         "init(&a, 64); }"),
    Case("same_phase_twice", _own(1) + "if (t == 0) arrive(&a); __syncthreads(); if (t == 0) { wait(&a, 0);"
         "expect(&a, 16); wait(&a, 0); }", (("mbarrier_stale_wait", 1),)),
    Case("same_phase_twice_nothing_begun", _own(1) + "if (t == 0) arrive(&a); __syncthreads();"
         "wait(&a, 0); wait(&a, 0);"),
    Case("arrive_far", _own(1) + MEET + FAR + ARRIVE_FAR + "if (t == 0) wait(&a, 0);" + MEET, cluster=2),
    Case("arrive_after_exit", _own(1) + MEET + "if (block == 1) return; for (int k = 0; k < 50; k++) __syncthreads();"
         + FAR + ARRIVE_FAR, (("exited_block", 1),), cluster=2),
]  # fmt: skip


STUCK = _own(3) + "if (t == 5 || t == 40) arrive(&a); if (t < 32) wait(&a, 0);"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    source = PRELUDE + "".join(
        f'extern "C" __global__ void {name}() {{ int t = threadIdx.x, block = blockIdx.x; (void)block; {body} }}\n'
        for name, body in [*(case[:2] for case in CASES), ("stuck", STUCK)]
    )
    return Planted(tmp_path_factory.mktemp("mbarriers"), source, Synccheck(), chip="h200")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted(planted, case):
    if case.ends:
        with pytest.raises(KernelFault):
            planted.run(case.name, 1, 64)
    else:
        planted.run(case.name, case.cluster, 64, cluster=case.cluster)
    assert in_short(planted.checkers[0].results[-1].findings) == list(case.found)


def test_a_deadlock_names_who_has_arrived(planted):
    with pytest.raises(KernelFault):
        planted.run("stuck", 1, 64)
    (found,) = planted.checkers[0].results[-1].findings
    line = PRELUDE[: PRELUDE.index("try_wait")].count("\n") + 1
    assert found.text == (
        "thread (0, 0, 0) of block (0, 0, 0) waits forever: 32 threads from thread 0 on of the block reached "
        f"MBAR.TRY_WAIT.PARITY at planted.cu:{line} last, and wait for phase 0 of the mbarrier at 0x0, in which of 3 "
        "arrivals those of threads 5, 40 have come"
    )
