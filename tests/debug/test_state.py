"""What is seen at random stops is what an interpreter finds that runs one thread after the other (`tests.one_thread`),
and going back shows what was seen before.
"""

from random import Random

import pytest

from gpuprof.debug.debugger import Debugger
from gpuprof.debug.thread import Focus
from tests.one_thread.decoded import decoded
from tests.one_thread.launch import run_launch
from tests.one_thread.memory import constant_bank
from tests.paths import ROOT

FILE = ROOT / "tests/debug/walk.cu"
N_BLOCKS, N_THREADS = 2, 48
OFFSETS = (1, 2, 3, 4)


@pytest.fixture(scope="module")
def debugger():
    with Debugger(FILE) as made:
        yield made


def written(events, code) -> dict[str, int]:
    """What registers hold behind some events of a thread, of those that it has written."""
    registers = {}
    for event in events:
        left = event.results
        for _, file, index, count, *_ in code[event.row].targets if event.held else ():
            if index != {"R": 255, "D": 255, "P": 127}[file]:
                registers |= {f"{file}{index + k}": left[k] for k in range(count)}
                left = left[count:]
    return registers


def seen(debugger: Debugger, names) -> dict[str, int]:
    return {name: int(debugger.thread.register(f"${name}").number) for name in names}


def test_registers_at_random_stops_are_those_of_a_thread_alone(debugger):
    """Random threads, each followed for a random number of instructions: where it stands, how deep, its registers."""
    random = Random(7)
    stop = debugger.start()
    entry = debugger.timeline.entries[0]
    done = run_launch(entry.launch, entry.memory)
    code = decoded(entry.launch.module.code, constant_bank(entry.launch))
    n_compared = n_deep = 0
    for number in range(5):
        focus = Focus(random.randrange(N_BLOCKS), random.randrange(N_THREADS))
        events = done.events[focus.block][focus.thread]
        # Some of them in the function that is called.
        n_done = random.choice([k for k in range(1, len(events)) if number % 2 or events[k].depth])
        debugger.start()
        debugger.focus = focus
        stop = debugger.step("stepi", n_done)
        assert (stop.reason, stop.focus) == ("step", focus)
        assert debugger.thread.at == events[n_done].row
        frames = debugger.frames()
        assert frames[-1].call == events[n_done].depth
        wanted = written(events[:n_done], code)
        assert seen(debugger, wanted) == wanted
        n_compared += len(wanted)
        n_deep += events[n_done].depth
    assert n_compared > 40 and n_deep >= 3


def thread_of_walk(block: int, thread: int) -> list[tuple[int, int, int]]:
    """(turn, next, sum) of a thread in front of line 26, worked out from the source."""
    tile = [N_THREADS * block + k for k in range(N_THREADS)]
    found, total = [], 0
    for turn in range(5):
        following = tile[(thread + turn) % N_THREADS]
        found.append((turn, following, total))
        if following % 3 == 0:
            total += following * 3 + (OFFSETS[following & 3] if following & 1 else 0)
        else:
            total -= turn
    return found


@pytest.mark.parametrize("focus", [pytest.param(Focus(0, 5), marks=pytest.mark.long), Focus(1, 47)])
def test_variables_are_those_of_the_source_forwards_and_backwards(debugger, focus):
    """Every stop at one line shows what C++ has there; going back over them, the same in the other order."""
    for number in list(debugger.points.all):
        debugger.points.remove(number)
    debugger.break_at("walk.cu:26", f"blockIdx.x == {focus.block} && threadIdx.x == {focus.thread}")
    wanted, found = thread_of_walk(*focus), []
    stop = debugger.run()
    while stop.reason == "breakpoint":
        found.append(variables(debugger))
        if len(found) == len(wanted):
            break
        stop = debugger.cont()
    assert found == wanted
    for expected in wanted[-2::-1]:
        assert debugger.reverse_continue().reason == "breakpoint"
        assert variables(debugger) == expected


def variables(debugger: Debugger) -> tuple[int, int, int]:
    return tuple(debugger.evaluate(name).number for name in ("turn", "next", "sum"))


def everything(debugger: Debugger) -> tuple:
    """All of a thread that can be seen: where it is, its registers, and the block's shared memory."""
    registers = {name: value.number for name, value in debugger.thread.registers()}
    thread = debugger.thread
    return debugger.stop.event, thread.at, registers, thread.state.read("shared", 0, 4 * N_THREADS, thread.lane)


@pytest.mark.parametrize("kind, n_steps", [("stepi", 6), ("step", 6), pytest.param("next", 5, marks=pytest.mark.long)])
def test_a_step_back_undoes_a_step(debugger, kind, n_steps):
    for number in list(debugger.points.all):
        debugger.points.remove(number)
    debugger.break_at("walk.cu:25", "blockIdx.x == 1 && threadIdx.x == 12", is_temporary=True)
    debugger.run()
    passed = [everything(debugger)]
    for _ in range(n_steps):
        debugger.step(kind)
        passed.append(everything(debugger))
    for before in passed[-2::-1]:
        debugger.reverse_step(kind)
        assert everything(debugger) == before


def test_a_change_by_hand_is_undone_by_going_back(debugger):
    for number in list(debugger.points.all):
        debugger.points.remove(number)
    debugger.break_at("walk.cu:31", "blockIdx.x == 0 && threadIdx.x == 3", is_temporary=True)
    debugger.run()
    was = debugger.evaluate("sum").number
    debugger.assign("sum = sum + 100")
    debugger.step("next")
    assert debugger.evaluate("out[3]").number == was + 100
    debugger.reverse_step("next")
    assert debugger.evaluate("sum").number == was
    debugger.step("next")
    assert debugger.evaluate("out[3]").number == was
