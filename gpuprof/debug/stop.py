"""Why and where everything waits."""

from dataclasses import dataclass

from gpuprof.debug.locations import LoadedCode
from gpuprof.debug.thread import Focus
from gpuprof.emulate.watch.watch_state import State


@dataclass(eq=False)
class Stop:
    """Why and where everything waits: in front of event `event` of launch `launch` (its number here, from 0).

    `reason`: breakpoint, watchpoint, step, launch, exited (the thread that was followed), until, interrupt, fault,
    launch_end, history (there is no further back), exit, error. `text`: what is to be said. `state` and
    `code` are None where no launch runs.
    """

    reason: str
    launch: int = -1
    event: int = -1
    focus: Focus | None = None
    text: tuple[str, ...] = ()
    points: tuple[int, ...] = ()
    state: State | None = None
    code: LoadedCode | None = None
    exit_code: int = 0
