"""The past: places reached from a state that was kept in the midst of a launch are those reached from its begin."""

import pytest

from gpuprof.debug import Debugger, replayer
from gpuprof.debug.plans import Order
from gpuprof.debug.reverse import go
from gpuprof.debug.thread import Focus
from tests.paths import ROOT

WALK = ROOT / "tests/debug/walk.cu"
SPIN = """// LAUNCH: spin<<<2, 64>>>(60, o: u32[128])
__global__ void spin(int n, unsigned *o) {
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x, x = t;
    s[t] = 0;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 28 == 3)
            s[t ^ __shfl_xor_sync(__activemask(), t, 1) & 1] = i;
        if (i % 50 == 7)
            __syncthreads();
    }
    o[blockIdx.x * 64 + t] = x + s[t];
}
"""
NULL = """// LAUNCH: bad<<<1, 32>>>(200, o: u32[32])
__global__ void bad(int n, unsigned *o) {
    for (int i = 0; i < n; i++)
        if (i == 150)
            o = 0;
        else
            o[threadIdx.x] = i;
}
"""


@pytest.fixture
def spin(tmp_path):
    (tmp_path / "spin.cu").write_text(SPIN)
    return tmp_path / "spin.cu"


def keep_states(monkeypatch, seconds: float) -> None:
    monkeypatch.setattr(replayer, "LEAST_PAUSE_SECONDS", seconds)
    monkeypatch.setattr(replayer, "PAUSE_SHARE", 0)
    monkeypatch.setattr(replayer, "BLOCKS_PER_CHECK", 5)


def seen(debugger: Debugger) -> tuple:
    """All that lanes hold, and memory."""
    state, memory = debugger.stop.state, debugger.timeline.entries[0].memory
    registers = [state.register(file, index, warp).tobytes() for file, count in zip("RDP", state.counts(), strict=True)
                 for index in range(count) for warp in range(state.chunk.n_warps)]  # fmt: skip
    spaces = [state.chunk.spaces[name].views[1].tobytes() for name in ("shared", "local")]
    return state.places.tobytes(), registers, spaces, memory.arena[: memory.written_nbytes].tobytes()


def places(file, events) -> tuple[list, int]:
    """What is seen in front of some events, in this order, when the launch has run once; and how many were kept."""
    found = []
    with Debugger(file) as debugger:
        assert debugger.run(Order(ends_with_launch=True)).reason == "launch_end"
        for event in events:
            debugger._at(go(debugger._resume, debugger.timeline, 0, event))
            assert debugger.stop.event == event
            found.append(seen(debugger))
        return found, len(debugger.timeline.entries[0].states.all)


def test_states_are_what_a_run_from_the_begin_gives(monkeypatch, spin):
    events = (1500, 41, 900, 899, 1)
    keep_states(monkeypatch, 1e9)
    from_begin, none = places(spin, events)
    keep_states(monkeypatch, 0)
    from_states, kept = places(spin, events)
    assert (none, kept > 20) == (0, True)
    assert from_states == from_begin


def test_a_step_back_runs_a_small_part_again(monkeypatch, spin):
    keep_states(monkeypatch, 0)
    with Debugger(spin) as debugger:
        debugger.break_at("14")
        debugger.run()
        pulse = debugger.timeline.entries[0].counters.pulse
        total = pulse.warp_instructions
        debugger.reverse_step()
        again = debugger.timeline.entries[0].counters.pulse.warp_instructions
        assert debugger.stop.event > 1500
        assert again < total / 20, (again, total)


@pytest.mark.long
@pytest.mark.parametrize("kind, count", [("step", 5), ("next", 5), ("stepi", 5), ("finish", 1)])
def test_steps_back_end_where_they_do_without_states(monkeypatch, spin, kind, count):
    ends = []
    for seconds in (1e9, 0):
        keep_states(monkeypatch, seconds)
        with Debugger(spin) as debugger:
            debugger.break_at("11", condition="i == 57 && threadIdx.x == 33")
            debugger.run()
            ends.append([(debugger.reverse_step(kind).event, debugger.stop.reason) for _ in range(count)])
    assert ends[0] == ends[1]


@pytest.mark.long
def test_the_last_stop_before_and_the_last_write(monkeypatch, spin):
    found = []
    for seconds in (1e9, 0):
        keep_states(monkeypatch, seconds)
        with Debugger(spin) as debugger:
            debugger.break_at("14")
            debugger.run()
            debugger.focus = Focus(0, 5)
            writer = debugger.last_write("s[t]")
            debugger.watch("s[t]")
            stops = [debugger.reverse_continue() for _ in range(2)]
            found.append((writer[:4], [(each.event, each.focus, each.reason) for each in stops]))
    assert found[0] == found[1]
    assert [reason for *_, reason in found[0][1]] == ["watchpoint"] * 2


def test_a_fault_is_met_in_front_of_its_instruction(tmp_path):
    (tmp_path / "bad.cu").write_text(NULL)
    with Debugger(tmp_path / "bad.cu") as debugger:
        debugger.break_at("2")
        debugger.run()
        stop = debugger.cont()
        assert (stop.reason, debugger.frames()[0].location.line) == ("fault", 7)
        assert debugger.evaluate("i").number == 151
        assert debugger.reverse_step().reason == "step"


@pytest.mark.long
def test_going_back_undoes_what_was_set_and_so_does_going_on(monkeypatch, spin):
    keep_states(monkeypatch, 0)
    with Debugger(spin) as debugger:
        debugger.break_at("11", condition="i == 57")
        debugger.break_at("14")
        debugger.run()
        debugger.assign("x = 77")
        changed = debugger.evaluate("x").number
        debugger.step("stepi", 40)
        debugger.reverse_step("stepi")
        undone = debugger.evaluate("x").number
        debugger.cont()
        end = debugger.evaluate("x").number
    with Debugger(spin) as debugger:
        debugger.break_at("14")
        debugger.run()
        assert (changed, undone != 77, end) == (77, True, debugger.evaluate("x").number)
