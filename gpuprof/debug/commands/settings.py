"""`set` and `show`: the settings, and those of gdb's scripts that make no difference here."""

from typing import NamedTuple

from gpuprof.debug.commands.command import Command
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError


class Setting(NamedTuple):
    """`values`: the possible ones; none for a number. `why`: the reason why it has no effect; "" if it has one."""

    name: str
    values: tuple[str, ...]
    default: str
    why: str = ""


ON_OFF = ("on", "off")
ASKS_NOTHING = "Nothing is asked, and no output waits for a key."
ALL_WATCHED = "Each run is watched as a whole, and is the same each time."
SETTINGS = (
    Setting("cuda break_on_launch", ("none", "application", "all"), "none"),
    Setting("print pretty", ON_OFF, "off"),
    Setting("listsize", (), "10"),
    Setting("confirm", ON_OFF, "off", ASKS_NOTHING),
    Setting("pagination", ON_OFF, "off", ASKS_NOTHING),
    Setting("height", (), "0", ASKS_NOTHING),
    Setting("width", (), "0", ASKS_NOTHING),
    Setting("breakpoint pending", (*ON_OFF, "auto"), "on", "A breakpoint always waits for its code."),
    Setting(
        "cuda memcheck", ON_OFF, "off", "`gpuprof run --trace memcheck` checks accesses; a fault stops in any case."
    ),
    Setting("cuda launch_blocking", ON_OFF, "on", "Launches run one after the other."),
    Setting("cuda software_preemption", (*ON_OFF, "auto"), "off", ALL_WATCHED),
    Setting("cuda api_failures", ("ignore", "stop", "hide", "ignore_all", "stop_all"), "ignore", ALL_WATCHED),
    Setting("cuda single_stepping_optimizations", ON_OFF, "on", ALL_WATCHED),
    Setting("cuda step_divergent_lanes", ON_OFF, "on", "A step follows the focused thread, and its warp with it."),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
UNLIMITED = 1_000_000_000
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
REFUSED = {
    "args": "The arguments of a program come after -- on the command line.",
    "environment": "A program has the environment of gpuprof.",
    "logging": "Let the shell write the output to a file.",
}


def is_on(debugger: Debugger, name: str) -> bool:
    return value_of(debugger, name) not in ("off", "none")


def value_of(debugger: Debugger, name: str) -> str:
    return debugger.settings.get(name, DEFAULTS[name])


def _named(text: str) -> tuple[Setting, str] | None:
    """A setting and the value after it."""
    words = text.split()
    for count in (2, 1):
        if setting := _BY_NAME.get(" ".join(words[:count])):
            return setting, " ".join(words[count:])
    return None


def _set(debugger: Debugger, rest: str) -> list[str]:
    if named := _named(rest):
        return _chosen(debugger, *named)
    first, _, value = rest.partition(" ")
    if first in REFUSED:
        raise DebugError(REFUSED[first])
    if first in ("cuda", "print") or not value:
        names = ", ".join(name for name in _BY_NAME if name.startswith(first)) or ", ".join(_BY_NAME)
        raise DebugError(
            f"There is no setting {rest!r:.40}; there are: {names}. `set var EXPRESSION = VALUE` changes memory."
        )
    debugger.assign(value if first in ("var", "variable") else rest)
    return []


def _chosen(debugger: Debugger, setting: Setting, value: str) -> list[str]:
    value = value or ("on" if "on" in setting.values else value)
    if setting.name == "cuda break_on_launch":
        value = {"on": "all", "off": "none", "system": "all"}.get(value, value)
    is_known = value in setting.values if setting.values else _is_count(value) or value == "unlimited"
    if not is_known:
        raise DebugError(f"`set {setting.name}` takes {', '.join(setting.values) or 'a number'}.")
    debugger.settings[setting.name] = value
    if setting.name == "cuda break_on_launch":
        debugger.breaks_on_launch = is_on(debugger, setting.name)
    return []


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def count_of(debugger: Debugger, name: str) -> int:
    """The value of a setting that is a number."""
    value = value_of(debugger, name)
    return UNLIMITED if value == "unlimited" else int(value)


def _show(debugger: Debugger, rest: str) -> list[str]:
    if rest and _named(rest) is None:
        raise DebugError(f"There is no setting {rest!r:.40}; `show` lists all.")
    wanted = [_named(rest)[0]] if rest else SETTINGS
    return [f"{setting.name}: {value_of(debugger, setting.name)}{f'  {setting.why}' if setting.why else ''}"
            for setting in wanted]  # fmt: skip


COMMANDS = (
    Command("set", "var EXPRESSION = VALUE, or NAME VALUE", "Change memory for this run, `$name`, or a setting.", _set),
    Command("show", "[NAME]", "Show settings.", _show),
)
