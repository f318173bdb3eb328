"""Tables that stay from batch to batch: each batch finds them as a GPU has them that was just switched on."""

import copy

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import KernelFault
from gpuprof.isa.program import Function
from gpuprof.timing.batch import Grid, batch_records, prepare
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state import cached_tables, layout
from gpuprof.timing.state.cached_tables import CachedTables
from gpuprof.timing.state.machine import new_cell, new_core, new_memory, power_on, rooms_of
from gpuprof.timing.state.static_program import static_program
from tests.support.timing_support import access, encode, launch, make, piece, warp

SAMPLED = Sampling(period_cycles=32, mode="all")
# What is in them was written by a quantum, and is read in the same one.
SCRATCH = {"blocked", "running", "effect", "record", "counted", "leaves", "request", "load"}


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = tmp_path_factory.mktemp("chips") / "small.toml"
    path.write_text('inherits = "a100"\nsms = 4\nnotes = { value = "four SMs", source = "name" }\n')
    return load_chip(path)


def job(blocks, index=0, registers=16, **options):
    """Each of `blocks` blocks of two warps loads, waits at a barrier and stores."""
    load, meet, store = make("LDG.32", dst=1, a=2), make("BAR.SYNC"), make("STG.32", a=2, b=1)
    code = encode([load, meet, store, make("FADD", dst=registers, a=1, b=1), make("EXIT")])
    warps = [warp([0, 1], [access([8 * k + 1]), access([8 * k + 2])]) for k in range(2 * blocks)]
    return launch(code, blocks=blocks, threads=64, index=index, **options), [piece(warps, 2)]


def run(machine, blocks, index=0, registers=16, max_cycles=1 << 40, **options):
    own, pieces = job(blocks, index, registers, **options)
    records = []
    timing = simulate(machine, own, iter(pieces), SAMPLED, lambda rows: records.append(rows.tobytes()), max_cycles)
    return timing, b"".join(records)


def tables(machine, registers=16):
    """The tables that the next batch of such a job would find, by name."""
    own, pieces = job(1, registers=registers)
    grids, program = prepare([Grid(own, iter(pieces))], machine)
    machine.tables.begin()
    rows = batch_records(grids, (), machine)
    rooms = rooms_of(machine.chip, program)
    groups = (
        new_core(machine, program, rows.grids, rows.edges, rows.operations, np.zeros(4, np.int64), False, rooms, 1),
        new_memory(machine, [grids[0].fit], rooms, 1),
        new_cell(machine, SAMPLED, [SAMPLED.filter], False),
    )
    return {name: table for group in groups for name, table in group._asdict().items() if name not in SCRATCH}


LASTING = {"l2_tag", "l2_use", "l2_line", "l2_ticket", "l2_copy", "tlb", "tlb_hint", "l2_tlb", "slice_tick",
           "slice_join", "slice_joins", "channel_tick", "channel_turn", "channel_posted", "channel_activate",
           "write_queue", "dram_row", "grid"}  # fmt: skip


@pytest.mark.parametrize("blocks", [(1,), (2, 1), (300,), (3, 300, 1)], ids=str)
def test_the_next_batch_finds_tables_that_are_new(chip, blocks):
    machine = power_on(chip)
    for index, n in enumerate(blocks):
        run(machine, n, index)
    found, new = tables(machine), tables(power_on(chip))
    assert found.keys() == new.keys()
    assert [name for name in found if name not in LASTING and found[name].tobytes() != new[name].tobytes()] == []


def test_tables_are_the_same_arrays_as_long_as_their_shape_is(chip):
    machine = power_on(chip)
    run(machine, 1)
    first, second = tables(machine), tables(machine)
    machine.tables.ended(np.zeros(0, np.int64))
    wider = tables(machine, registers=20)
    assert first["warp"] is not second["warp"]  # a batch that did not come to its end leaves nothing
    assert wider["warp"] is second["warp"]
    assert wider["board"].shape == second["board"].shape


def test_a_launch_behind_others_is_timed_as_on_a_copy_of_the_gpu(chip):
    """The copy has the same caches and clock, and tables of its own, which are new."""
    machine = power_on(chip)
    for index, n in enumerate((5, 300, 2)):
        other = copy.deepcopy(machine)
        (timing, records), (expected, expected_records) = run(machine, n, index), run(other, n, index)
        assert records == expected_records
        assert (timing.cycles, timing.ledger.tolist()) == (expected.cycles, expected.ledger.tolist())
        assert timing.causes.tolist() == expected.causes.tolist()


def test_a_batch_that_ends_in_a_fault_leaves_nothing(chip):
    machine, other = power_on(chip), power_on(chip)
    with pytest.raises(KernelFault):
        run(machine, 300, max_cycles=10)
    found, new = tables(machine), tables(other)
    assert [name for name in found if name not in LASTING and found[name].tobytes() != new[name].tobytes()] == []


def test_only_rows_of_sms_that_took_a_block_are_written():
    tables = CachedTables(2)
    tables.begin()
    table = tables.of_sms("lane", (4, 1), layout.LANE, age=-1)
    table["age"] = [[1], [2], [3], [4]]
    tables.ended(np.array([1]))
    tables.begin()
    again = tables.of_sms("lane", (4, 1), layout.LANE, age=-1)
    assert again is table
    assert again["age"].ravel().tolist() == [1, 2, -1, -1]


def test_a_table_of_each_shape_stays_and_is_new_for_the_batches_that_have_it():
    tables = CachedTables(2)

    def batch(rows: int, used: list[int]) -> np.ndarray:
        """The ages that a batch finds. It writes all rows of the SMs that it uses."""
        tables.begin()
        table = tables.of_sms("lane", (rows, 1), layout.LANE, age=-1)
        found = table["age"].ravel().tolist()
        per_sm = rows // 2
        for sm in used:
            table["age"][sm * per_sm : (sm + 1) * per_sm] = 7
        tables.ended(np.array(used, np.int64))
        return found

    assert batch(4, [0]) == [-1] * 4
    assert batch(6, [1]) == [-1] * 6
    assert batch(6, []) == [-1] * 6
    assert batch(4, [0, 1]) == [-1] * 4
    assert batch(6, [0]) == [-1] * 6
    assert batch(4, []) == [-1] * 4
    shapes = range(8, 8 + 2 * cached_tables.MOST_SHAPES, 2)
    assert [batch(rows, [0]) for rows in (*shapes, *shapes)] == [[-1] * rows for rows in (*shapes, *shapes)]


@pytest.mark.parametrize("order", ["121212", "112212", "123123321"])
def test_launches_with_l1s_of_different_sizes_are_timed_as_on_a_copy_of_the_gpu(chip, order):
    machine = power_on(chip)
    for index, kind in enumerate(map(int, order)):
        other = copy.deepcopy(machine)
        found = [run(each, 40 * kind, index, shared=16384 * kind) for each in (machine, other)]
        (timing, records), (expected, expected_records) = found
        assert records == expected_records
        assert (timing.cycles, timing.ledger.tolist()) == (expected.cycles, expected.ledger.tolist())
    sizes = set(machine.tables._cached["l1_tag"])
    assert len(sizes) == len(set(order))


def test_a_program_is_worked_out_once_for_a_module(chip, monkeypatch):
    made = []
    monkeypatch.setattr(cached_tables, "static_program", lambda *given: made.append(given) or static_program(*given))
    machine = power_on(chip)
    own, pieces = job(1)
    other, other_pieces = job(1)
    for each, trace in ((own, pieces), (own, pieces), (other, other_pieces), (own, pieces)):
        simulate(machine, each, iter(trace), SAMPLED, lambda rows: None, 1 << 40)
    assert [given[0] is own.module.code for given in made] == [True, False]
    assert isinstance(own.function, Function)
