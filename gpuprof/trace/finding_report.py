"""The findings of trace generators in a run, for its user: known ones are suppressed, the rest is counted and reported
once the launch has ended.
"""

from collections.abc import Iterable, Iterator

from gpuprof.base.compared_results import MOST_SHOWN
from gpuprof.base.wording import plural
from gpuprof.trace.kernel import Kernel
from gpuprof.trace.suppressions import Suppression, frames_of
from gpuprof.trace.tables import Finding

ERROR = "error"  # the severity that is reported at once


class Findings:
    """`n_errors`: number of errors; `n_places`: number of (launch, instruction) pairs that had one."""

    def __init__(self, suppressions: Iterable[Suppression] = (), most_reported: int = MOST_SHOWN):
        self._suppressions, self._most_reported = tuple(suppressions), most_reported
        self.n_errors = self.n_places = self.n_suppressed = 0

    def unsuppressed(self, kernel: Kernel, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that match no suppression."""
        return [finding for finding in findings if not self._is_known(kernel, finding)]

    def _is_known(self, kernel: Kernel, finding: Finding) -> bool:
        matching = [suppression for suppression in self._suppressions if suppression.meets(finding, kernel)]
        for suppression in matching:
            suppression.used += 1
        self.n_suppressed += bool(matching)
        return bool(matching)

    def reports(self, kernel: Kernel, findings: Iterable[Finding]) -> Iterator[str]:
        """A sentence for each error, up to the limit. Counts them."""
        for finding in findings:
            if finding.severity == ERROR and self._count(finding.count):
                yield text_of(kernel, finding)

    def host_error(self, kind: str, text: str) -> Iterator[str]:
        """A sentence for an error of the host, up to the limit. Counts it."""
        if self._count(1):
            yield f"{kind}: {text}"

    def _count(self, times: int) -> bool:
        self.n_errors += times
        self.n_places += 1
        return self.n_places <= self._most_reported

    def summary(self) -> Iterator[str]:
        """The lines to print at the end of a run."""
        if self.n_places:
            hidden = self.n_places - self._most_reported
            more = f"; {plural(hidden, 'place is', 'places are')} not shown" if hidden > 0 else ""
            yield f"{plural(self.n_errors, 'error', 'errors')} at {plural(self.n_places, 'place', 'places')}{more}"
        else:
            yield "no errors"
        if self.n_suppressed:
            yield f"{plural(self.n_suppressed, 'finding is', 'findings are')} suppressed"
        for each in self._suppressions:
            if not each.used:
                yield f"suppression {each.text} (line {each.number}) matched nothing; delete it"


def text_of(kernel: Kernel, finding: Finding) -> str:
    """ "out_of_bounds: saxpy: saxpy.cu:12: thread (3, 0, 0) of block (0, 0, 0) reads ...; 32 times" """
    times = f"; {finding.count:,} times" if finding.count > 1 else ""
    other = ""
    if any(instruction.pc == finding.other_pc for instruction in kernel.instructions):
        other = f" (the other access: {place_of(kernel, finding.other_pc)})"
    location = f"{place_of(kernel, finding.pc)}: " if finding.pc >= 0 else ""
    return f"{finding.kind}: {kernel.name}: {location}{finding.text}{other}{times}"


def place_of(kernel: Kernel, pc: int) -> str:
    """The source location of a code address with those that it was inlined at, or the address: optimised code has
    instructions without a line.
    """
    frames = [f"{frame.file}:{frame.line}" for frame in frames_of(kernel, pc)]
    if frames:
        return ", inlined at ".join(frames)
    has_lines = any(instruction.location for instruction in kernel.instructions)
    return f"{pc:#x}" + (" (an instruction without a line: -O0 keeps more of them)" if has_lines else "")
