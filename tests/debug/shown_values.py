"""What the debugger shows of optimized code, held against the same program in code that keeps every variable."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.debug.debugger import Debugger
from gpuprof.debug.plans import Order, row_of
from gpuprof.debug.thread import Focus, Thread
from gpuprof.debug.values.c_types import shown
from gpuprof.errors import DebugError
from gpuprof.run.compile_file import BuildOptions

Values = dict[str, str | None]  # by name; None is <optimized out>


class Seen(NamedTuple):
    """A frame in front of an instruction. `place`: its function and line, and the lines of the frames around it."""

    place: tuple[str, int, tuple[int, ...]]
    depth: int
    values: Values


def values_of(thread: Thread) -> Values:
    """The innermost variable of each name. Without pointers, which differ with the size of the code, and shared memory,
    which is as it is: a store may stand behind instructions of later lines.
    """
    found: Values = {}
    for variable in thread.visible():
        try:
            is_left_out = variable.type.kind == "pointer" or variable.space == "shared"
            value = None if is_left_out else shown(thread.value(variable))
        except DebugError:
            value = None
        found.setdefault(variable.name, value)
    return found


def seen_by(file: Path, options: BuildOptions, threads: Sequence[Focus]) -> dict[Focus, list[list[Seen]]]:
    """Of each thread of the first launch, in front of each instruction that it runs: its frames."""
    found: dict[Focus, list[list[Seen]]] = {focus: [] for focus in threads}

    def look(executed, now: int) -> None:
        for focus in threads:
            if row_of(executed, focus) is not None:
                code = debugger.inferior.timeline.code_of(executed.chunk.launch)
                n_frames = len(Thread(executed.state(), code, focus).frames())
                frames = [Thread(executed.state(), code, focus, number) for number in range(n_frames)]
                found[focus].append([frame_of(each, n_frames) for each in frames if each.present.location is not None])

    with Debugger(file, options=options) as debugger:
        assert debugger.run(Order(look=look)).reason == "exit"
    return found


def frame_of(thread: Thread, n_frames: int) -> Seen:
    outer = tuple(each.location.line if each.location else 0 for each in thread.frames()[thread.frame + 1 :])
    frame = thread.present
    place = frame.function.partition("<")[0], frame.location.line, outer
    return Seen(place, n_frames - thread.frame, values_of(thread))


def states_of(trace: list[list[Seen]]) -> dict[tuple, list[Values]]:
    """By place, what the variables are there: in front of its instructions, and behind the last one."""
    found: dict[tuple, list[Values]] = defaultdict(list)
    before: set[tuple] = set()
    for frames in trace:
        for frame in frames:
            found[frame.place].append(frame.values)
        for place, depth in before - {(frame.place, frame.depth) for frame in frames}:
            found[place] += (frame.values for frame in frames if (frame.place[0], frame.depth) == (place[0], depth))
        before = {(frame.place, frame.depth) for frame in frames}
    return found


def judged(optimized: list[list[Seen]], plain: list[list[Seen]]) -> Counter[str]:
    """How many values are `shown` and `optimized out`; and of the former, how many are not those of the place at once:
    `elsewhere` if they are so at once at another line of the function, where the thread runs an instruction of a line
    that the source does not come to (or only later), and `wrong` if never; `unvisited` if it never comes to that place.
    """
    states = states_of(plain)
    of_function: dict[str, list[Values]] = defaultdict(list)
    for place, found in states.items():
        of_function[place[0]] += found
    count: Counter[str] = Counter()
    for frames in optimized:
        is_elsewhere = False
        for frame in reversed(frames):
            known = {name: value for name, value in frame.values.items() if value is not None}
            count["shown"] += len(known)
            count["optimized out"] += len(frame.values) - len(known)
            if frame.place not in states:
                count["unvisited"] += len(known)
            elif not _is_among(known, states[frame.place]):
                is_elsewhere = is_elsewhere or _is_among(known, of_function[frame.place[0]])
                count["elsewhere" if is_elsewhere else "wrong"] += len(known)
    return count


def _is_among(known: Values, states: list[Values]) -> bool:
    return any(all(state.get(name) == value for name, value in known.items()) for state in states)
