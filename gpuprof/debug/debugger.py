"""The debugger as one object; `gpuprof debug` and tests use it.

with Debugger("saxpy.cu") as debugger:
    debugger.break_at("saxpy.cu:12", condition="threadIdx.x == 3")
    stop = debugger.run()
    print(debugger.evaluate("x[i]").number, *run_line(debugger, "backtrace"))
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gpuprof.compile.source import read_source
from gpuprof.debug import reverse
from gpuprof.debug.breakpoints import Breakpoint, Points, Watchpoint
from gpuprof.debug.code_locations import Frame, Linespec, LoadedCode, find, linespec
from gpuprof.debug.event_timeline import Timeline
from gpuprof.debug.inferior import Inferior
from gpuprof.debug.plans import (
    Arrived,
    Order,
    Position,
    Step,
    Stop,
    by_instruction,
    by_line,
    out_of_function,
    over_instruction,
    over_line,
    past_line,
    position_of,
    to_instructions,
)
from gpuprof.debug.thread import Focus, Thread
from gpuprof.debug.values.c_types import INT, CType, Value, value_of
from gpuprof.debug.values.evaluation import assignment, evaluate
from gpuprof.debug.values.value_history import NAMED, Nowhere, Remembered
from gpuprof.errors import DebugError, NoValue
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.target import target_of

TEXTS = (".cu", ".cuh", ".ptx", ".py", ".cpp", ".c")
FOR_DEBUGGER = BuildOptions(optimize=0, for_debugger=True)

# Name -> the condition that ends a step of this kind.
STEPS: dict[str, Callable[[Position], Arrived]] = {
    "step": by_line,
    "next": over_line,
    "stepi": by_instruction,
    "nexti": over_instruction,
    "until": past_line,
    "finish": out_of_function,
}


class Debugger:
    """`stop`: the last one, None before the first run. `frame`: the selected frame, 0 the innermost."""

    def __init__(
        self,
        file: Path | str,
        *,
        others: Sequence[str] = (),
        arguments: Sequence[str] = (),
        launches: Sequence[str] = (),
        chip: str | None = None,
        host: str | None = None,
        options: BuildOptions = FOR_DEBUGGER,
        max_instructions: int | None = None,
        observer: Observer | None = None,
    ):
        """Raises UsageError for a file that cannot be run."""
        self.file = Path(file)
        settings = Settings(
            chip_name=chip,
            host_name=host,
            is_timed=False,
            options=options,
            max_instructions=max_instructions,
            observer=observer or Observer(),
        )
        target = target_of(self.file, others, arguments, launches, options=options, takes_streams=True)
        list(target.inputs())  # refuses launches that cannot be read
        self._target = lambda supervisor: target.run(replace(settings, supervisor=supervisor)).code or 0
        self.points = Points()
        self.inferior: Inferior | None = None
        self.stop: Stop | None = None
        self.frame = 0
        self.breaks_on_launch = False
        self.values: list[Value | NoValue] = []  # numbered by `print`, from 1 on
        self.named: dict[str, Value] = {}  # set as `$name`
        self.settings: dict[str, str] = {}  # values chosen by `set`, by name
        self.displays: dict[int, tuple[str, str]] = {}  # number -> format and expression
        self.listed: tuple[str, int, Stop | None] | None = None  # file and line of the next `list`, and the stop

    def __enter__(self) -> "Debugger":
        return self

    def __exit__(self, *_) -> None:
        self.kill()

    # Running

    def run(self, order: Order | None = None) -> Stop:
        """Starts a new run; runs to the first stop."""
        self.kill()
        for point in self.points.breakpoints():
            point.hits, point.resolved = 0, []
        for point in self.points.watchpoints():
            if point.storage.space != "global":
                self.points.remove(point.number)
        self.inferior = Inferior(self._target, self.points, order or Order(breaks_on_launch=self.breaks_on_launch))
        return self._at(self.inferior.start())

    def start(self) -> Stop:
        """Starts a new run; runs to the first instruction of the first launch."""
        return self.run(Order(breaks_on_launch=True))

    def kill(self) -> None:
        if self.inferior is not None:
            if not self.inferior.has_ended:
                self.inferior.kill()
            self.inferior, self.stop = None, None

    @property
    def is_running(self) -> bool:
        return self.inferior is not None and not self.inferior.has_ended

    @property
    def timeline(self) -> Timeline:
        """Raises DebugError when nothing runs."""
        if not self.is_running:
            raise DebugError("The program is not being run.")
        return self.inferior.timeline

    def _at(self, stop: Stop) -> Stop:
        self.stop, self.frame = stop, 0
        if self.inferior.has_ended:
            self.inferior = None
            if stop.reason == "exit" and stop.exit_code >= 0:
                self.named["$_exitcode"] = value_of(INT, stop.exit_code)
        return stop

    def _resume(self, order: Order) -> Stop:
        timeline = self.timeline
        order.breaks_on_launch = self.breaks_on_launch and order.minds_points
        if self.stop.focus is not None:
            timeline.focus = self.stop.focus
        return self._at(self.inferior.resume(order))

    def cont(self) -> Stop:
        return self._resume(Order())

    def step(self, kind: str = "step", count: int = 1) -> Stop:
        """`kind`: of STEPS. `finish` leaves the selected frame, and `until` stays in it."""
        start = self._position()
        plan = STEPS[kind]
        if kind in ("finish", "until"):
            start = self._of_frame(start)
        if kind == "finish":
            self.check_caller()
        return self._resume(Order(Step(self.stop.launch, self.focus, start, plan, count)))

    def check_caller(self) -> None:
        """Raises DebugError where the selected frame has none."""
        if self.frame == len(self.frames()) - 1:
            raise DebugError('"finish" not meaningful in the outermost frame.')

    def until_location(self, text: str) -> Stop:
        """Runs the focused thread to a location, or out of its function."""
        targets = {at for match in self.find(text) for at in match.instructions if match.code is self.stop.code}
        step = Step(
            self.stop.launch, self.focus, self._position(), lambda start: to_instructions(frozenset(targets), start)
        )
        return self._resume(Order(step))

    def _position(self) -> Position:
        """The position of the focused thread."""
        thread = self.thread
        thread.frames()
        return position_of(self.stop.code, thread.at, self.stop.state.depth(*thread.lane))

    def _of_frame(self, start: Position) -> Position:
        """The position of the selected frame, which is less deep."""
        frames = self.thread.frames()
        chosen = frames[self.frame]
        outer = sum(1 for each in frames[self.frame + 1 :] if each.call == chosen.call)
        return start._replace(call_depth=start.call_depth - chosen.call, inline_depth=outer)

    # Going back

    def reverse_step(self, kind: str = "step", count: int = 1) -> Stop:
        """`kind`: step, next, stepi, nexti or finish."""
        for _ in range(count):
            self._step_back(kind)
        return self.stop

    def _step_back(self, kind: str) -> None:
        here, focus, now = self.stop, self.focus, self._position()
        past = reverse.past_of_thread(self._resume, self.timeline, here, focus)
        event = reverse.TARGETS[kind](past, now, self._of_frame(now))
        stop = reverse.go(self._resume, self.timeline, here.launch, here.event if event is None else event)
        self.inferior.timeline.focus = focus
        is_first = event is None
        text = (reverse.NO_HISTORY,) if is_first else ()
        self._at(replace(stop, reason="history" if is_first else "step", focus=focus, text=text))

    def reverse_continue(self) -> Stop:
        return self._at(reverse.last_stop(self._resume, self.timeline, self.points, self._here()))

    def last_write(self, text: str) -> reverse.Writer | None:
        """The last write to the value of an expression, or to the byte at an address; None if no kernel wrote it."""
        here, focus, frame = self._here(), self.focus, self.frame
        point = self._watched(0, "watch", text)
        writer = reverse.last_write(self._resume, self.timeline, here, point)
        self._at(replace(self.stop, reason=here.reason, focus=focus, text=()))
        self.timeline.focus, self.frame = focus, frame
        return writer

    def _here(self) -> Stop:
        if self.stop is None or self.stop.state is None:
            raise DebugError("The program is not being run.")
        return self.stop

    # Breakpoints

    def break_at(self, text: str = "", condition: str = "", is_temporary: bool = False) -> Breakpoint:
        """`text`: a location in the syntax of `break`; "" for the current line."""
        spec = self.linespec(text)
        return self.points.add(lambda number: self._breakpoint(number, spec, condition, is_temporary))

    def _breakpoint(self, number: int, spec: Linespec, condition: str, is_temporary: bool) -> Breakpoint:
        made = Breakpoint(number, spec, condition, is_temporary)
        made.resolve(self.codes)
        return made

    def watch(self, text: str, kind: str = "watch", condition: str = "") -> Watchpoint:
        return self.points.add(lambda number: replace(self._watched(number, kind, text), condition=condition))

    def _watched(self, number: int, kind: str, text: str) -> Watchpoint:
        thread, value = self.thread, self.evaluate(text)
        if value.storage is None and (value.type.is_integer or value.type.kind == "pointer"):
            # A plain number is an address: one byte of it.
            value = evaluate(f"*(unsigned char *){value.number}", thread)
        if value.storage is None or value.storage.space in ("param", "const"):
            raise DebugError(f"{text} is not in memory that is written")
        return Watchpoint(number, kind, text, value.storage, value.type, self.stop.launch, self.focus, value=value.data)

    def linespec(self, text: str) -> Linespec:
        file, line = self.shown_line
        return linespec(text, file, line)

    def find(self, text: str) -> list:
        """The locations of a text. Raises DebugError for one without code."""
        locations = find(self.linespec(text), self.codes)
        if not locations:
            raise DebugError(f"No code at {text}.")
        return locations

    @property
    def codes(self) -> list[LoadedCode]:
        return list(self.inferior.timeline.codes.values()) if self.is_running else []

    @property
    def own_lines(self) -> list[str]:
        """The lines of the debugged file, if it is text."""
        return read_source(str(self.file)).split("\n") if self.file.suffix in TEXTS and self.file.is_file() else []

    @property
    def shown_line(self) -> tuple[str, int]:
        """File and line of the selected frame, otherwise the begin of the debugged file."""
        if self.stop is not None and self.stop.state is not None:
            location = self.thread.present.location if not self.thread.has_exited else None
            if location is not None:
                return location.file, location.line
        return str(self.file), 1

    # The focused thread

    @property
    def focus(self) -> Focus:
        return self._here().focus

    @focus.setter
    def focus(self, focus: Focus) -> None:
        """Raises DebugError for a thread that does not run now."""
        Thread(self._here().state, self.stop.code, focus)
        self._at(replace(self.stop, focus=focus))

    @property
    def thread(self) -> Thread:
        here = self._here()
        return Thread(here.state, here.code, here.focus, self.frame)

    def frames(self) -> list[Frame]:
        return self.thread.frames()

    def evaluate(self, text: str) -> Value:
        return evaluate(text, self._scope)

    def type_of(self, text: str) -> CType:
        """The type of an expression, or the type with the name."""
        return self._scope.type(text.strip().removeprefix("struct ").strip()) or self.evaluate(text).type

    @property
    def _scope(self) -> "Remembered":
        is_stopped = self.stop is not None and self.stop.state is not None
        return Remembered(self.thread if is_stopped else Nowhere(), self.values, self.named)

    def assign(self, text: str) -> Value:
        """Assigns `EXPRESSION = VALUE` for the focused thread, in this run: going back undoes it. `$NAME = VALUE` gives
        a value a name.
        """
        left, right = assignment(text)
        new = self.evaluate(right)
        if NAMED.fullmatch(left) and self._scope.thread.register(left) is None:
            self.named[left] = new
            return new
        thread = self.thread
        value = self.evaluate(left)
        if value.storage is None:
            raise DebugError(f"{left} is not in memory")
        made = value_of(value.type, new.number)
        thread.store(value.storage, made.data)
        self.timeline.changed(self.stop.launch, self.stop.event)
        return made
