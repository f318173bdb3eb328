"""Is there anything to show? Raises the error that says what to do where there is not."""

from gpuprof.errors import NotComparable, UsageError
from gpuprof.report.model import Report
from gpuprof.report.sections import select_lines, source_sections

EXACT_IS_COMPLETE = "the exact columns are complete"


def check_measured(report: Report, needs_cycles: bool = True) -> None:
    """Raise NotComparable when nothing at all was measured: no launch; or neither samples nor a ledger, where what is
    shown `needs_cycles`.
    """
    why = f" ({'; '.join(report.header.notes)})" if report.header.notes else ""
    if not report.kernels and why:
        raise NotComparable(f"nothing was measured: the file has no launches{why}; collect again")
    if not report.kernels:
        raise NotComparable(
            "nothing was measured: the file has no launches; collect with --launch, or from a source with // "
            "LAUNCH: lines"
        )
    if report.header.measured_by:
        return  # metrics of a card are numbers, too
    if needs_cycles and not any(sum(kernel.cost.reasons) for kernel in report.kernels):
        raise NotComparable(f"nothing was measured: the launches have neither samples nor a ledger{why}; collect again")


def check_sampled(report: Report) -> None:
    """Raise NotComparable when samples were requested and none was taken."""
    header = report.header
    if header.trigger and not header.samples:
        raise NotComparable(
            f"no samples were taken: no SM counted the events of --trigger {header.trigger} ({EXACT_IS_COMPLETE})"
        )
    if header.period_cycles and not header.samples:
        if header.filter:
            raise NotComparable(
                f"no samples were taken: none passed the filter, {header.filter}; collect with another --filter "
                f"({EXACT_IS_COMPLETE})"
            )
        if header.mode == "round-robin":
            raise NotComparable(
                "no samples were taken: mode round-robin samples each warp slot of an SM once in as many periods as "
                "there are slots, and every sampled slot was empty; collect with a shorter --period or another --mode "
                f"({EXACT_IS_COMPLETE})"
            )
        cycles = max(launch.cycles for kernel in report.kernels for launch in kernel.launches)
        raise NotComparable(
            f"no samples were taken: the longest launch ran {cycles} cycles, the sampling period is "
            f"{header.period_cycles}; collect with a shorter --period ({EXACT_IS_COMPLETE})"
        )


def check_lines(report: Report, lines: tuple[int, int]) -> None:
    """Raise UsageError when no kernel has a line in the range; it says where they are."""
    if any(select_lines(source_sections(kernel), *lines) for kernel in report.kernels):
        return
    spans = []
    for kernel in report.kernels:
        numbers = [row.number for section in source_sections(kernel)[:1] for row in section.rows if row.number]
        spans.append(
            f"{kernel.name} is in lines {numbers[0]}-{numbers[-1]}"
            if numbers
            else f"{kernel.name} has no line information"
        )
    raise UsageError(f"--source-lines {lines[0]}-{lines[1]}: no kernel has code there; {'; '.join(spans)}")
