"""What `collect` and `replay` have in common: numbers of the chip, passes, load bases, and the line that says what was
recorded.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from gpuprof.base.wording import base_name

RANDOM = "random"
WITH_COUNTERS = "wide+counters"
RECORDS = ("wide", "compact", WITH_COUNTERS)


class LoadBase(click.ParamType):
    """A code address, as 0x7f000000 or in decimal, or "random"."""

    name = "address"

    def convert(self, value, param, ctx):
        if value == RANDOM or isinstance(value, int):
            return value
        try:
            return int(value, 0)
        except ValueError:
            self.fail(f"{value!r} is no address, such as 0x200000, and not {RANDOM}", param, ctx)


_FLAGS = (
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar="KEY=V",
        help="A number of the chip: clock_mhz=1095, l2_mb=20, latency.shared=30. Repeatable.",
    ),
    click.option(
        "--passes",
        "passes",
        type=click.IntRange(min=1),
        metavar="N",
        help="Run N passes with other seeds and phases, and add up their samples.",
    ),
    click.option(
        "--load-base",
        type=LoadBase(),
        metavar="ADDRESS",
        help="Load the code at this address, or at random ones, drawn by --seed.",
    ),
)


ACCESSES_FLAG = click.option(
    "--no-accesses",
    is_flag=True,
    help="Do not note which bytes each launch and copy reads and writes.",
)
RULES_FLAG = click.option(
    "--rules",
    metavar="FILE",
    help="A file (TOML) of rules that gather launches and copies into virtual tasks.",
)
TRACE_FLAG = click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="NAME[:K=V,...]",
    help="Let a trace generator watch: a name of `gpuprof list traces`, or FILE.py:CLASS. Repeatable.",
)


def recording_options(command: Callable) -> Callable:
    """Gives a command --param, --passes, --load-base, --trace, --no-accesses and --rules, as its arguments `params`,
    `passes`, `load_base`, `traces`, `no_accesses` and `rules`: the second, third and last None where they are not
    given.
    """
    for flag in reversed((*_FLAGS, TRACE_FLAG, ACCESSES_FLAG, RULES_FLAG)):
        command = flag(command)
    return command


def recording_flags(
    params: Sequence[str], passes: int | None, load_base: int | str | None, traces: Sequence[str]
) -> list[str]:
    """The flags as words of a command line, without folders of this machine."""
    words = [word for text in params for word in ("--param", text)]
    words += ["--passes", str(passes)] if passes else []
    if load_base is not None:
        words += ["--load-base", load_base if load_base == RANDOM else hex(load_base)]
    return words + [word for text in traces for word in ("--trace", without_folder(text))]


def without_folder(text: str) -> str:
    """What --trace says, the file without its folders."""
    file, found, rest = text.partition(".py:")
    return f"{base_name(file)}{found}{rest}" if found else text


def trace_settings(traces: Sequence[str]) -> dict:
    """The session.Settings that --trace makes. Raises UsageError for a generator that there is not."""
    if not traces:
        return {}
    from gpuprof.run.observers.tracing import Attached
    from gpuprof.trace.find import make, parse_spec

    specs = [parse_spec(text) for text in traces]
    return {"traces": tuple(Attached(make(spec), spec.where) for spec in specs)}


def relation_settings(no_accesses: bool, rules: str | None) -> dict:
    """The session.Settings that --no-accesses and --rules make. Raises UsageError for a file of no rules."""
    if rules is None:
        return {"observe": not no_accesses}
    from gpuprof.base.inputs import RULES
    from gpuprof.base.toml import read_toml
    from gpuprof.errors import UsageError
    from gpuprof.relate.relation_rules import rules_of

    try:
        content = read_toml(Path(rules), RULES)
    except ValueError as error:
        raise UsageError(f"{rules}: is no TOML: {error}") from None
    return {"observe": not no_accesses, "rules": tuple(rules_of(content, rules))}


def relation_flags(no_accesses: bool, rules: str | None) -> list[str]:
    """The flags as words of a command line, without folders of this machine."""
    return [*(["--no-accesses"] if no_accesses else []), *(["--rules", base_name(rules)] if rules else [])]


def form_and_registers(record: str, registers: dict) -> tuple[str, dict]:
    """What --record says: the form of samples, and the sampler's registers, with all counters where it asks for them
    and --counters does not.
    """
    from gpuprof.timing.sampling.configuration import COUNTERS

    return ("wide", {"counters": ",".join(COUNTERS)} | registers) if record == WITH_COUNTERS else (record, registers)


def load_settings(load_base: int | str | None) -> dict:
    """The session.Settings that --load-base makes."""
    if load_base is None:
        return {}
    return {"load_base": None if load_base == RANDOM else load_base}


def say_results(terminal, results: Sequence) -> None:
    """A line for each comparison that found what was expected; the others are in the error."""
    for result in results:
        if not result.is_wrong:
            terminal.say(str(result))


def recorded_text(recorder, passes: int, output: Path) -> str:
    """The last line of a run: "1,024 samples of 3 launches in 4 passes -> saxpy.gprec"."""
    from gpuprof.base.wording import plural

    in_passes = f" in {passes:,} passes" if passes > 1 else ""
    return (
        f"{plural(recorder.n_records, 'sample', 'samples')} of "
        f"{plural(recorder.n_launches, 'launch', 'launches')}{in_passes} -> {output}"
    )
