"""Launches on several processes: memory, counts and messages are those of one process, whatever their blocks do."""

import os
import signal
from dataclasses import fields

import numpy as np
import pytest

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate import run as running
from gpuprof.emulate.run import emulate
from gpuprof.emulate.spread import outcomes, spread as spreading
from gpuprof.emulate.spread.kernels import is_alone
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import REST, Order
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.special import ASSERT_SERVICE
from tests.support.emulate_harness import ADDR64, CHIP, global_index, jump, program_of, special
from tests.support.spreading import spread_over

PROCESSES = (1, 2, 3, 4)
N_BLOCKS, N_CHUNKS = 12, 6  # the first chunk is carried out before the others are spread
INDEX, BLOCK = 250, 240  # registers


def at(memory: AddressSpace, nbytes: int = 4096):
    """An allocation, and its address as an instruction."""
    base = memory.allocate(nbytes, "data").address
    return base, make("MOVI.64", dst=0, imm=base & 0xFFFFFFFF, mods=base >> 32)


def place(to: int, index: int, nbytes: int = 4):
    """D[to] = D[0] + nbytes * R[index]."""
    return make("IMAD.WIDE.U32", dst=to, a=index, imm=nbytes, slot="b", c=0)


def independent(base) -> list:
    """x[i] += i."""
    return [
        place(1, INDEX),
        make("LDG.32", dst=1, a=1, mods=ADDR64),
        make("IADD", dst=1, a=1, b=INDEX),
        make("STG.32", a=1, b=1, mods=ADDR64),
    ]


def reads_what_was_written(base) -> list:
    """x[i + 64] = x[i] + i + 1: what the chunk before this one has written."""
    return [
        place(1, INDEX),
        make("LDG.32", dst=1, a=1, mods=ADDR64),
        make("IADD", dst=1, a=1, b=INDEX),
        make("IADD", dst=1, a=1, imm=1, slot="b"),
        make("STG.32", a=1, b=1, imm=256, mods=ADDR64),
    ]


def one_place(base) -> list:
    """x[0] = i in all threads: the last one wins."""
    return [make("STG.32", a=0, b=INDEX, mods=ADDR64)]


def neighbours(base) -> list:
    """Byte 3 * block + thread = i + 1 of the first three threads: words, and chunks, share nothing but words."""
    return [
        special("tid.x", 1),
        make("ISETP.U32", dst=0, a=1, imm=3, slot="b", mods=pack(cmp="lt")),
        make("IMAD", dst=2, a=BLOCK, imm=3, slot="b", c=1),
        place(1, 2, 1),
        make("IADD", dst=3, a=INDEX, imm=1, slot="b"),
        make("STG.U8", a=1, b=3, mods=ADDR64, guard=0),
    ]


def later_reads_earlier_place(base) -> list:
    """x[i] = x[i + 64]: what the next chunk writes, as it was before."""
    return [
        place(1, INDEX),
        make("LDG.32", dst=1, a=1, imm=256, mods=ADDR64),
        make("IADD", dst=1, a=1, b=INDEX),
        make("STG.32", a=1, b=1, mods=ADDR64),
    ]


def global_sum(kind: str):
    def body(base) -> list:
        """x[0] += float(i) ** -1 or i, without a result: the order of additions shows in a float."""
        value = [make("CVT.F32.U32", dst=1, a=INDEX), make("MUFU.RCP", dst=1, a=1)] if kind == "F32" else []
        return [*value, make(f"REDG.ADD.{kind}", a=0, b=1 if value else INDEX, mods=ADDR64)]

    return body


def shared_sum(base) -> list:
    """shared += i; x[i] = shared, by block."""
    return [
        make("MOV", dst=9, imm=0, slot="a"),
        make("REDS.ADD.U32", a=9, b=INDEX),
        make("LDS.32", dst=1, a=9),
        place(1, INDEX),
        make("STG.32", a=1, b=1, mods=ADDR64),
    ]


BODIES = {
    # body: chunks that are carried out again here, of 0 to 4
    "independent": (independent, []),
    "reads_what_was_written": (reads_what_was_written, [1, 2, 3, 4]),
    "one_place": (one_place, []),
    "neighbours": (neighbours, []),
    "shared_sum": (shared_sum, []),
}


def launched(
    body,
    n_processes: int,
    n_here: int = 0,
    is_counted: bool = False,
    limit: int = 100_000,
    patience_seconds: float = 60,
):
    """(memory, counters, message of the fault) of a launch of two warps a chunk, and how it was spread."""
    memory = AddressSpace()
    base, to_base = at(memory)
    code = [*global_index(), special("ctaid.x", BLOCK), to_base, *body(base), make("EXIT")]
    module = load(program_of(code, shared_nbytes=64), memory)
    launch = Launch(0, module, module.program.functions[0], (N_BLOCKS, 1, 1), (32, 1, 1), 0, b"", 0, "k")
    counters, message = LaunchCounters.zeros(len(code)), ""
    with spread_over(n_processes, n_here, 64, patience_seconds) as spread:
        try:
            list(
                emulate(
                    launch, memory, chip=CHIP, max_warp_instructions=limit, counters=counters,
                    orders=(Order(REST, traced=False),), is_counted=is_counted,
                )
            )  # fmt: skip
        except KernelFault as error:
            message = str(error)
    return memory.read(base, 4096), plain(counters), message, spread


def plain(counters: LaunchCounters) -> dict:
    """The counters as values that compare."""
    found = {each.name: getattr(counters, each.name) for each in fields(counters)}
    patterns = {at: [values.tolist() for values in known] for at, known in found.pop("patterns").items()}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()} | {
        "patterns": patterns
    }


@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_results_are_those_of_one_process(name, is_counted):
    body, again = BODIES[name]
    *expected, alone = launched(body, 1, is_counted=is_counted)
    assert alone == ([], [])
    for n in PROCESSES[1:]:
        *found, spread = launched(body, n, is_counted=is_counted)
        assert found == expected
        assert spread.again == again
        assert spread.helped == [chunk for chunk in range(N_CHUNKS - 1) if chunk not in again]


def test_results_by_hand():
    numbers = np.arange(32 * N_BLOCKS, dtype=np.uint32)
    memory, counters, message, _ = launched(independent, 3, is_counted=True)
    assert memory == numbers.tobytes().ljust(4096, b"\0") and message == ""
    assert counters["inst_executed"] == [N_BLOCKS] * len(counters["inst_executed"])
    assert counters["l2_sectors_global"][-3:] == [0, 4 * N_BLOCKS, 0]
    assert counters["pulse"].blocks == N_BLOCKS
    assert launched(one_place, 3)[0][:4] == numbers[-1].tobytes()
    three = np.arange(N_BLOCKS)[:, None] * 32 + np.arange(1, 4)
    assert launched(neighbours, 3)[0] == three.astype(np.uint8).tobytes().ljust(4096, b"\0")


def test_what_a_helper_wrote_for_a_later_chunk_is_not_read_by_an_earlier_one():
    """One helper goes from the back, so memory has the next chunk's values already. Only the last chunk reads none."""
    expected = launched(later_reads_earlier_place, 1)[:3]
    *found, spread = launched(later_reads_earlier_place, 2)
    assert tuple(found) == expected
    assert spread == ([4], [0, 1, 2, 3])


@pytest.mark.parametrize("kind", ["U32", "F32"])
def test_sums_of_all_blocks_are_not_spread(kind):
    expected = launched(global_sum(kind), 1)
    assert launched(global_sum(kind), 4) == expected
    assert expected[3] == ([], [])


def test_this_process_and_the_helpers_share_the_chunks():
    expected = launched(independent, 1)[:3]
    for n in PROCESSES[1:]:
        *found, spread = launched(independent, n, n_here=2)
        assert tuple(found) == expected
        # Helpers may be quick, and then take some of the first two, too.
        assert spread.again == [] and spread.helped in [list(range(k, N_CHUNKS - 1)) for k in range(3)]


def test_a_long_launch_is_spread_in_parts(monkeypatch):
    """Parts have two chunks each; the last one has no other to share with."""
    expected = launched(independent, 1)[:3]
    monkeypatch.setattr(running, "MOST_CHUNKS", 1)
    *found, spread = launched(independent, 2)
    assert tuple(found) == expected
    assert spread == ([0, 1, 0, 1], [])


def test_a_helper_without_room_for_more_takes_no_more(monkeypatch):
    """Each of two has taken one chunk then; this process carries out all others."""
    expected = launched(independent, 1)[:3]
    monkeypatch.setattr(outcomes, "MOST_NBYTES", 1)
    *found, spread = launched(independent, 3, n_here=N_CHUNKS)
    assert tuple(found) == expected
    assert len(spread.helped) <= 2 and spread.again == []


@pytest.mark.parametrize("n", PROCESSES[1:])
@pytest.mark.parametrize("block", [3, 7, 11])
def test_faults(n, block):
    """x[i] = i, then a block stores past the end, traps, or an assertion of it fails."""
    is_block = make("ISETP.U32", dst=0, a=BLOCK, imm=block, slot="b", mods=pack(cmp="eq"))
    store = [place(1, INDEX), make("STG.32", a=1, b=INDEX, mods=ADDR64), is_block]

    def beyond(base):
        return [*store, make("STG.32", a=1, b=INDEX, imm=8192, mods=ADDR64, guard=0)]

    def trap(base):
        return [*store, make("TRAP", guard=0)]

    for body, text in ((beyond, "out of bounds write of 4 bytes"), (trap, "trap")):
        *expected, _ = launched(body, 1)
        *found, _ = launched(body, n)
        assert text in expected[2] and f"block ({block}, 0, 0)" in expected[2]
        assert found == expected


def test_an_assertion_that_holds_keeps_nothing_from_being_spread():
    assert is_alone(make("SYSCALL", imm=ASSERT_SERVICE)) and not is_alone(make("SYSCALL", imm=1))


@pytest.mark.parametrize("n", PROCESSES[1:])
def test_watchdog(n):
    """x[i] = i; block 7 then goes round for ever."""

    def body(base):
        start = [place(1, INDEX), make("STG.32", a=1, b=INDEX, mods=ADDR64)]
        loop = make("ISETP.U32", dst=0, a=BLOCK, imm=7, slot="b", mods=pack(cmp="eq"))
        here = 5 + 2 + len(start)
        return [*start, loop, jump(here + 1, here, guard=0)]

    *expected, _ = launched(body, 1, limit=2000)
    *found, _ = launched(body, n, limit=2000)
    assert "still running after 2000 instructions of a warp" in expected[2]
    assert found == expected


@pytest.mark.parametrize("n", PROCESSES[1:])
def test_a_helper_that_dies_is_missed_by_nobody(n, monkeypatch):
    """The first two chunks that a helper takes are its last."""
    expected = launched(independent, 1)[:3]
    before = spreading.help_out

    def dies(run, carry_out, left, outcomes, number):
        chunks = []

        def carry_out_two(chunk):
            chunks.append(chunk)
            if len(chunks) == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            carry_out(chunk)

        before(run, carry_out_two, left, outcomes, number)

    monkeypatch.setattr(spreading, "help_out", dies)
    *found, spread = launched(independent, n)
    assert tuple(found) == expected
    assert len(spread.again) >= 1 and sorted(spread.helped + spread.again) == list(range(N_CHUNKS - 1))


def test_a_helper_that_never_ends_is_not_waited_for():
    """Chunk c waits until chunk c - 1 has written its word, which a helper never sees. Nothing but this process's
    patience ends that."""

    def body(base):
        wait = 11
        return [
            make("ISETP.U32", dst=1, a=BLOCK, imm=2, slot="b", mods=pack(cmp="lt")),
            make("SHR.U32", dst=2, a=BLOCK, imm=1, slot="b"),
            place(1, 2),
            jump(wait - 1, wait + 3, guard=1),
            make("LDG.32", dst=3, a=1, imm=1020, mods=ADDR64),
            make("ISETP.U32", dst=0, a=3, imm=0, slot="b", mods=pack(cmp="eq")),
            jump(wait + 2, wait, guard=0),
            make("MOV", dst=4, imm=1, slot="a"),
            make("STG.32", a=1, b=4, imm=1024, mods=ADDR64),
        ]

    expected = launched(body, 1)
    found = launched(body, 2, limit=1 << 40, patience_seconds=0.2)
    assert found[:3] == expected[:3]
    assert expected[0][1024:1048] == np.ones(6, np.uint32).tobytes()
    assert found[3] == ([], [0, 1, 2, 3, 4])


def test_a_kernel_whose_chunks_needed_each_other_is_not_spread_again():
    memory = AddressSpace()
    base, to_base = at(memory)
    code = [*global_index(), special("ctaid.x", BLOCK), to_base, *reads_what_was_written(base), make("EXIT")]
    module = load(program_of(code), memory)
    launch = Launch(0, module, module.program.functions[0], (N_BLOCKS, 1, 1), (32, 1, 1), 0, b"", 0, "k")
    found = []
    for _ in range(2):
        counters = LaunchCounters.zeros(len(code))
        with spread_over(2, chunk_lanes=64) as spread:
            list(emulate(launch, memory, chip=CHIP, counters=counters, orders=(Order(REST, traced=False),)))
        found.append((spread.helped, spread.again))
    assert found == [([0], [1, 2, 3, 4]), ([], [])]


def test_nothing_is_left_behind():
    before = sorted(os.listdir("/proc/self/fd"))
    launched(independent, 4)
    launched(reads_what_was_written, 4)
    assert sorted(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
