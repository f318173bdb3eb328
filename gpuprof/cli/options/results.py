"""The flags about the kernels' results: what they are compared with, and where they are saved."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path

import click

from gpuprof.base.heap import nothing_is_garbage
from gpuprof.cli.options.outputs import OutputPath, claim, npy


class Tolerance(click.ParamType):
    """A finite number from 0 on: with an infinite one everything would agree."""

    name = "tolerance"

    def convert(self, value, param, ctx):
        try:
            tolerance = float(value)
        except ValueError:
            tolerance = math.nan
        if not 0 <= tolerance < math.inf:
            self.fail(f"{value!r} is not a finite number from 0 on", param, ctx)
        return tolerance


_COMPARING = (
    click.option(
        "--expect",
        "expected",
        multiple=True,
        metavar="NAME=REF",
        help="Compare an array with a .npy file, a number, zeros, ones or arange after the last launch; K#2.NAME=REF: "
        "after the second launch of K. Repeatable.",
    ),
    click.option(
        "--rtol",
        type=Tolerance(),
        metavar="X",
        help="Relative tolerance of comparisons.  [default: f64 1e-9, f32 1e-5, f16 2e-3, bf16 2e-2, integers 0]",
    ),
    click.option("--atol", type=Tolerance(), metavar="X", help="Absolute tolerance of comparisons.  [default: 0]"),
)


class SavePath(OutputPath):
    """The type of --save: NAME=OUT.npy, as a `Saved`."""

    def convert(self, value, param, ctx):
        from gpuprof.device.launching.expected_results import parse_saved

        _, equals, path = value.partition("=")
        if equals:
            super().convert(path.strip(), param, ctx)
        return parse_saved(value, "--save")


_SAVING = click.option(
    "--save",
    "saved",
    type=SavePath(npy),
    multiple=True,
    metavar="NAME=OUT.npy",
    help="Save an array after the last launch, or K#2.NAME after the second launch of K. Repeatable.",
)


def comparing_options(command: Callable) -> Callable:
    """Gives a command --expect, --rtol and --atol, and what they say as its argument `wanted` (launching.values)."""

    @wraps(command)
    def with_wanted(*, expected, rtol, atol, saved=(), **others):
        with nothing_is_garbage():
            from gpuprof.device.launching.argument_values import RequestedResults
            from gpuprof.device.launching.expected_results import parse_expected

        wanted = RequestedResults(
            tuple(parse_expected(text, "--expect") for text in expected),
            saved,
            rtol,
            atol,
        )
        return command(wanted=wanted, **others)

    for flag in reversed(_COMPARING):
        with_wanted = flag(with_wanted)
    return with_wanted


def result_options(command: Callable) -> Callable:
    """Gives a command the flags of `comparing_options` and --save."""
    return _SAVING(comparing_options(command))


def comparing_flags(wanted) -> list[str]:
    """The comparisons as words of a command line. Where results are saved decides no number."""
    words = [word for expected in wanted.expected for word in ("--expect", f"{expected.array.text}={expected.text}")]
    for name in ("rtol", "atol"):
        if getattr(wanted, name) is not None:
            words += [f"--{name}", f"{getattr(wanted, name):g}"]
    return words


def check_results_flags(file: Path, wanted) -> None:
    """Raises UsageError for flags about results that do nothing to a script."""
    from gpuprof.errors import UsageError

    given = {
        "--expect": wanted.expected,
        "--save": wanted.saved,
        "--rtol": wanted.rtol is not None,
        "--atol": wanted.atol is not None,
    }
    flags = [flag for flag, value in given.items() if value]
    if file.suffix == ".py" and flags:
        raise UsageError(
            f"{file}: a script has its results itself: compare copy_to_host() there, as with "
            f"numpy.testing.assert_allclose, or numpy.save it; leave out {', '.join(flags)}"
        )


def claim_saves(wanted, output: Path, inputs: Iterable[Path], force: bool) -> None:
    """Asks for each --save whether it may be written. Raises UsageError for one that may not, or that is the file of
    another one or the recording, `output`.
    """
    from gpuprof.errors import UsageError

    inputs, taken = list(inputs), {os.path.realpath(output)} - {os.devnull}
    for saved in wanted.saved:
        if os.path.realpath(saved.path) in taken:
            raise UsageError(
                f"--save {saved.array.text}: {saved.path} is a file of this run already; give another name"
            )
        claim(saved.path, npy, inputs, force)
        taken.add(os.path.realpath(saved.path))


def raise_if_wrong(results: Sequence, said_in: str) -> None:
    """Raises WrongResult when a comparison failed. `said_in`: what is left, and says so."""
    from gpuprof.base.wording import plural
    from gpuprof.errors import WrongResult

    wrong = [result for result in results if result.is_wrong]
    if wrong:
        lines = "".join(f"\n    {result}" for result in wrong)
        compared = plural(len(results), "compared array", "compared arrays")
        raise WrongResult(f"results differ: {len(wrong)} of {compared}{lines}\n{said_in}")
