"""Commands that run: forwards and backwards."""

from collections.abc import Callable, Iterator

from gpuprof.debug.commands.command import Command, count_of
from gpuprof.debug.commands.show_values import displayed
from gpuprof.debug.commands.stop_text import frame_text, stop_lines
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.plans import Stop
from gpuprof.errors import DebugError


def _before(debugger: Debugger) -> tuple | None:
    stop = debugger.stop
    if stop is None or stop.state is None or debugger.thread.has_exited:
        return None
    frames = debugger.frames()
    return stop.launch, stop.focus, (frames[0].function, len(frames))


def said(debugger: Debugger, go: Callable[[], Stop], by_instruction: bool = False) -> list[str]:
    before = _before(debugger)
    stop = go()
    lines = stop_lines(debugger, stop, before, by_instruction)
    return lines + (displayed(debugger) if stop.state is not None else [])


def _run(debugger: Debugger, rest: str) -> Iterator[str]:
    yield f"Starting program: {debugger.file}"
    yield from said(debugger, debugger.run)


def _start(debugger: Debugger, rest: str) -> Iterator[str]:
    yield f"Starting program: {debugger.file}"
    yield from said(debugger, debugger.start)


def _continue(debugger: Debugger, rest: str) -> Iterator[str]:
    if (count := count_of(rest)) > 1 and debugger.stop and debugger.stop.points:
        for number in debugger.stop.points:
            if number in debugger.points.all:
                debugger.points.all[number].ignore = count - 1
    debugger.timeline  # noqa: B018 (it says that nothing runs)
    yield "Continuing."
    yield from said(debugger, debugger.cont)


def _step(kind: str) -> Callable[[Debugger, str], list[str]]:
    def run(debugger: Debugger, rest: str) -> list[str]:
        return said(debugger, lambda: debugger.step(kind, count_of(rest)), kind.endswith("i"))

    return run


def _finish(debugger: Debugger, rest: str) -> Iterator[str]:
    frame = debugger.frames()[debugger.frame]
    debugger.check_caller()
    yield f"Run till exit from #{debugger.frame}  {frame_text(debugger, frame, debugger.frame)}"
    yield from said(debugger, lambda: debugger.step("finish"))


def _until(debugger: Debugger, rest: str) -> list[str]:
    if rest:
        return said(debugger, lambda: debugger.until_location(rest))
    return said(debugger, lambda: debugger.step("until"))


def _reverse(kind: str) -> Callable[[Debugger, str], list[str]]:
    def run(debugger: Debugger, rest: str) -> list[str]:
        return said(debugger, lambda: debugger.reverse_step(kind, count_of(rest)), kind.endswith("i"))

    return run


def _reverse_continue(debugger: Debugger, rest: str) -> list[str]:
    return said(debugger, debugger.reverse_continue)


def _kill(debugger: Debugger, rest: str) -> list[str]:
    if not debugger.is_running:
        raise DebugError("The program is not being run.")
    debugger.kill()
    return ["[Program killed]"]


N = "[N]"
COMMANDS = (
    Command("run", "", "Start the program again, up to the first stop.", _run, ("r",)),
    Command("start", "", "Start the program again, up to its first launch.", _start),
    Command("continue", N, "Run on; stop at a breakpoint the N-th time.", _continue, ("c", "fg"), True),
    Command("step", N, "To the next line of the focused thread, into functions.", _step("step"), ("s",), True),
    Command("next", N, "To the next line, over functions.", _step("next"), ("n",), True),
    Command("stepi", N, "One instruction.", _step("stepi"), ("si",), True),
    Command("nexti", N, "One instruction, over functions.", _step("nexti"), ("ni",), True),
    Command("finish", "", "Until the selected frame returns.", _finish, ("fin",)),
    Command(
        "until",
        "[LOCATION]",
        "To a later line, past the end of a loop; or to a location.",
        _until,
        ("u", "advance"),
        True,
    ),
    Command("reverse-step", N, "Back to the line before, into functions.", _reverse("step"), ("rs",), True),
    Command("reverse-next", N, "Back to the line before, over functions.", _reverse("next"), ("rn",), True),
    Command("reverse-stepi", N, "Back by one instruction.", _reverse("stepi"), ("rsi",), True),
    Command("reverse-nexti", N, "Back by one instruction, over functions.", _reverse("nexti"), ("rni",), True),
    Command("reverse-finish", "", "Back to the call of this function.", _reverse("finish")),
    Command("reverse-continue", "", "Back to the last breakpoint or watchpoint.", _reverse_continue, ("rc",), True),
    Command("kill", "", "End the program.", _kill, ("k",)),
)
