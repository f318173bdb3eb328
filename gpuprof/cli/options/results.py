"""The results of a run: arrays that are saved, comparisons that failed, errors of checkers, and the last line."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.base.wording import plural
from gpuprof.cli.options.option import RESULTS, Given, is_given
from gpuprof.cli.options.outputs import claim, npy
from gpuprof.errors import UsageError, WrongResult

if TYPE_CHECKING:
    from gpuprof.device.launching.argument_values import RequestedResults


def check_results_flags(file: Path, given: Given) -> None:
    """Raises UsageError for options of results, which have no effect on a script."""
    flags = [row.flags for row in given.options if row.group == RESULTS and is_given(getattr(given, row.name))]
    if file.suffix == ".py" and flags:
        raise UsageError(
            f"{file}: a script has its results itself: compare copy_to_host() there, as with "
            f"numpy.testing.assert_allclose, or numpy.save it; leave out {', '.join(flags)}"
        )


def claim_saves(wanted: "RequestedResults", output: Path, inputs: Iterable[Path], force: bool) -> None:
    """Claims each file of --save. Raises UsageError for one that may not be written, or that is the file of another one
    or the recording, `output`.
    """
    inputs, taken = list(inputs), {os.path.realpath(output)} - {os.devnull}
    for saved in wanted.saved:
        if os.path.realpath(saved.path) in taken:
            raise UsageError(
                f"--save {saved.array.text}: {saved.path} is a file of this run already; give another name"
            )
        claim(saved.path, npy, inputs, force)
        taken.add(os.path.realpath(saved.path))


def say_results(terminal, results: Sequence) -> None:
    """A line for each comparison that found what was expected; the others are in the error."""
    for result in results:
        if not result.is_wrong:
            terminal.say(str(result))


def raise_if_wrong(results: Sequence, said_in: str) -> None:
    """Raises WrongResult when a comparison failed. `said_in`: the sentence on what is written, and says so."""
    wrong = [result for result in results if result.is_wrong]
    if wrong:
        lines = "".join(f"\n    {result}" for result in wrong)
        compared = plural(len(results), "compared array", "compared arrays")
        raise WrongResult(f"results differ: {len(wrong)} of {compared}{lines}\n{said_in}")


def recorded_text(recorder, passes: int, output: Path) -> str:
    """The last line of a run: "1,024 samples of 3 launches in 4 passes -> saxpy.gprec"."""
    in_passes = f" in {passes:,} passes" if passes > 1 else ""
    return (
        f"{plural(recorder.n_records, 'sample', 'samples')} of "
        f"{plural(recorder.n_launches, 'launch', 'launches')}{in_passes} -> {output}"
    )


@contextmanager
def errors_said(terminal, settings) -> Iterator[None]:
    """Prints how many errors checkers have found in the block. Where the block did not end well, none is no news."""
    try:
        yield
    except BaseException:
        if settings.findings.n_places:
            _say_errors(terminal, settings)
        raise
    _say_errors(terminal, settings)


def _say_errors(terminal, settings) -> None:
    if any(attached.generator.is_checker for attached in settings.traces):
        for sentence in settings.findings.summary():
            terminal.notice(sentence)


def end_with(findings, error_exitcode: int) -> None:
    """Ends the process with an exit code, when there are errors and one is requested."""
    if findings.n_errors and error_exitcode:
        sys.exit(error_exitcode)
