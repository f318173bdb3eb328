"""Translations of addresses, against cycles worked out by hand, and the steps of a chase through more than a TLB
covers.
"""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.errors import UsageError
from gpuprof.timing.state.machine import power_on
from tests.readable.timing import ledger_of, time_launch
from tests.support.matrices import long_from
from tests.support.timing_support import access, encode, launch, make, run, warp
from tests.timing.test_timing import A64, ffma, rows

CG = A64 | 2 << 7  # past the L1
LINES_OF_PAGE, LINES_OF_BIG_PAGE = 32, 64  # of 4 and 8 KB
HIT = 206  # in the L2


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    """Two SMs that keep two translations of 4 KB each; together they keep two of 8 KB. Misses take 7 cycles, walks 100
    more.
    """
    path = Path(tmp_path_factory.mktemp("chip")) / "translating.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n'
        "l2_spread_cycles = 0\ntlb_entries = "
        "2\ntlb_page_nbytes = 4096\n"
        "tlb_miss_cycles = 7\nl2_tlb_entries = 2\nl2_tlb_page_nbytes = 8192\nl2_tlb_miss_cycles = 100\n"
        "mio_gap_cycles = 1\nexit_cycles = 1\nmembar_l2_cycles = 20\n"
    )
    return load_chip(path)


def chase(lines):
    """Loads past the L1, each after the last one's data; and where each is waited for."""
    code = [
        step
        for k in range(len(lines))
        for step in (make("LDG.32", dst=k % 8, a=20, mods=CG), ffma(9, k % 8), make("MEMBAR"))
    ]
    return [*code, make("EXIT")], [warp([0], [access([4 * line]) for line in lines])], range(1, len(code), 3)


def latencies(chip, lines, machine):
    code, warps, places = chase(lines)
    timing, _ = run(chip, code, warps, machine=machine)
    return [rows(timing)[k].get("long_scoreboard", 0) + 1 for k in places]


def warm(chip, lines):
    """A machine whose L2 has these lines, and whose TLBs have never seen a page."""
    machine = power_on(chip)
    latencies(chip, lines, machine)
    machine.tlb[:], machine.l2_tlb[:] = 0, 0
    return machine


def test_a_page_is_translated_once(chip):
    """The first access walks (107), its neighbour in the 8 KB page misses in the SM alone (7), and pages that are kept
    cost nothing.
    """
    lines = [0, 1, LINES_OF_PAGE, 2, LINES_OF_PAGE + 1]
    assert latencies(chip, lines, warm(chip, lines)) == [HIT + 107, HIT, HIT + 7, HIT, HIT]


def test_what_was_used_longest_ago_goes(chip):
    """Pages 0, 2, 0, 4: 0 is used again before 4 comes, so 2 goes, and page 0 costs nothing. The TLB of all SMs does
    not see hits in an SM's own: there big page 0 was used before big page 1, so 0 goes when 4 comes, and page 3, which
    lies in big page 1, does not walk."""
    zero, two, three, four = 0, 2 * LINES_OF_PAGE, 3 * LINES_OF_PAGE, 4 * LINES_OF_PAGE
    assert two // LINES_OF_BIG_PAGE == three // LINES_OF_BIG_PAGE == 1
    lines = [zero, two, zero, four, zero, three]
    assert latencies(chip, lines, warm(chip, lines)) == [HIT + 107, HIT + 107, HIT, HIT + 107, HIT, HIT + 7]


def test_a_translation_lasts_beyond_the_launch(chip):
    machine = warm(chip, [0])
    assert latencies(chip, [0, 0], machine) == [HIT + 107, HIT]
    assert latencies(chip, [0, 0], machine) == [HIT, HIT]


def test_one_walk_for_all_who_wait_for_it(chip):
    """Two SMs, a warp each: both miss, and the walk that the first began brings the second's translation, too. The
    second warp's first load leaves three cycles later, for its block starts one later and its SM has two to fetch; its
    data comes in the same cycle."""
    code = [
        make("LDG.32", dst=0, a=20, mods=CG),
        make("LDG.32", dst=1, a=20, mods=CG),
        ffma(2, 0),
        ffma(3, 1),
        make("EXIT"),
    ]
    warps = [warp([0], [access([0]), access([4])]) for _ in range(2)]
    timing, _ = run(chip, code, warps, machine=warm(chip, [0, 1]))
    # Loads leave at 102 and 106 (105 and 109) and are known at 102 + 107; the data comes 206 later, for both loads of
    # both warps. The multiply-adds could have issued at 104 (107).
    known = 102 + 107
    assert rows(timing)[2] == {"selected": 2, "long_scoreboard": (known + HIT - 104) + (known + HIT - 107)}
    assert rows(timing)[3].get("long_scoreboard", 0) == 0


def test_a_load_behind_one_that_waits_comes_back_with_it(chip):
    """The first load walks; the second is to a page whose translation is there, but an L1's misses are in order."""
    machine = warm(chip, [0, 2 * LINES_OF_PAGE])
    latencies(chip, [0], machine)
    code = [
        make("LDG.32", dst=0, a=20, mods=CG),
        make("LDG.32", dst=1, a=20, mods=CG),
        ffma(3, 1),
        ffma(2, 0),
        make("EXIT"),
    ]
    timing, _ = run(chip, code, [warp([0], [access([8 * LINES_OF_PAGE]), access([0])])], machine=machine)
    found = rows(timing)
    # The second leaves four cycles after the first and is 206 away; the first is known 107 later than it leaves.
    assert found[2]["long_scoreboard"] == 107 + HIT - 2
    assert found[3].get("long_scoreboard", 0) == 0


def test_stores_and_atomics_are_translated(chip):
    """A fence waits for the store's acknowledgement, and a multiply-add for the atomic's answer: both come as much
    later as the translation.
    """

    def wait(machine, asks, waits):
        timing, _ = run(chip, [asks, waits, make("EXIT")], [warp([0], [access([0])])], machine=machine)
        return sum(rows(timing)[1].values())

    store = make("STG.32", a=20, b=8, mods=A64), make("MEMBAR")
    atomic = make("ATOMG.ADD.U32", dst=0, a=20, b=8, mods=A64), ffma(1, 0)
    for asks, waits in (store, atomic):
        machine = warm(chip, [0])
        assert wait(machine, asks, waits) - wait(machine, asks, waits) == 107


@pytest.mark.parametrize("entries", long_from(1, [5, 0, 1]))
@pytest.mark.parametrize("l2_entries", [0, 6])
def test_random_pages_beside_the_twin(chip, entries, l2_entries):
    """Loads of random pages by eight warps on two SMs: each cycle of each instruction, in the engine and in the
    readable model.
    """
    own = altered(chip, {"tlb_entries": entries, "l2_tlb_entries": l2_entries}, "test")
    random = np.random.default_rng(entries + 10 * l2_entries)
    code = [
        step
        for k in range(8)
        for step in (make("LDG.32", dst=k, a=20, mods=A64), ffma(9, k), make("STG.32", a=20, b=8, mods=A64))
    ]
    code.append(make("EXIT"))
    warps = [
        warp([0], [access([4 * int(line)]) for line in random.integers(0, 12 * LINES_OF_PAGE, 16)]) for _ in range(8)
    ]
    timing, _ = run(own, code, warps, warps_per_block=4)
    job = launch(encode(code))
    twin = time_launch(own, job.module.code, job.module.load_base, job.function, 128, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end


@pytest.mark.parametrize("pages", long_from(1, [1, 2, 4, 8]))
def test_a_chase_shows_the_reach(chip, pages):
    """A chase in random order misses as often as the pages outnumber the entries: 1 - 2 / pages of the accesses cost 7
    cycles more, once all walks are done. Beside it the same counted in plain Python: a list whose last two different
    pages are known."""
    own = altered(chip, {"l2_tlb_entries": 0}, "test")
    random = np.random.default_rng(pages)
    lines = (random.integers(0, pages, 400) * LINES_OF_PAGE).tolist()
    machine = warm(own, [page * LINES_OF_PAGE for page in range(pages)])
    known, misses = [], 0
    for line in lines:
        if line in known:
            known.remove(line)
        else:
            misses += 1
        known = [line, *known][:2]
    found = latencies(own, lines, machine)
    assert sum(found) == 400 * HIT + 7 * misses
    assert misses / 400 == pytest.approx(max(0, 1 - 2 / pages), abs=0.08)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tlb_page_nbytes = 3000000", "tlb_page_nbytes is 3000000, which is not a power of two"),
        ("l2_tlb_page_nbytes = 40000000", "l2_tlb_page_nbytes is 40000000, which is not a power of two"),
        ("tlb_entries = -1", "tlb_entries is -1, but only 0 to 1024 per SM make sense"),
        ("l2_tlb_entries = 1\nl2_tlb_page_nbytes = 4096", "cover less than the 33554432 bytes of each SM's TLB"),
    ],
)
def test_absurd_numbers_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(f'inherits = "a100"\n{text}\n')
    with pytest.raises(UsageError, match=message):
        load_chip(path)
