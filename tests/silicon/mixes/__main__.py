"""`python -m tests.silicon.mixes [TEXT] [--compiler NAME]`: stall mixes beside those of public Nsight Compute reports.

A line for each launch whose id has TEXT: the distance (half the sum of the absolute differences of the shares), the
largest reason of the report and of the model, the hottest line of both (1: the kernel's first) and the rank correlation
of all lines, and the reasons that differ most, published -> model in per cent. Behind them, by reason: the mean share
in the model and in the reports, and the mean absolute difference, all in per cent.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence

from gpuprof.isa.stalls import NAMES
from tests.silicon.mixes.cases import CASES
from tests.silicon.mixes.lines import Lines
from tests.silicon.mixes.measure import Mix, largest, measure

SHOWN = 6  # reasons a line


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.silicon.mixes")
    parser.add_argument("text", nargs="?", default="")
    parser.add_argument("--compiler", choices=("clang", "nvcc"), default="clang")
    arguments = parser.parse_args()
    mixes, by_line = [], []
    for case in CASES:
        if arguments.text in case.id:
            mix, lines = measure(case, arguments.compiler)
            mixes.append(mix)
            by_line.append(lines)
            print(line(case.id, mix, lines), flush=True)
    same = sum(mix.same_largest for mix in mixes)
    median = statistics.median(mix.distance for mix in mixes)
    hottest = sum(lines.same_hottest for lines in by_line)
    ranks = statistics.median(lines.rank_correlation for lines in by_line)
    print(
        f"{len(mixes)} launches: median distance {median:.3f}, largest reason the same in {same}, "
        f"hottest line the same in {hottest}, median rank correlation of lines {ranks:.2f}"
    )
    print("\n".join(by_reason(mixes)))


def by_reason(mixes: Sequence[Mix]) -> Iterator[str]:
    """The reasons, those first whose shares differ most."""
    yield f"{'reason':<20}{'model':>7}{'card':>7}{'difference':>12}"
    means = {
        reason: tuple(
            100 * statistics.fmean(each)
            for each in zip(
                *((m.model[reason], m.published[reason], abs(m.model[reason] - m.published[reason])) for m in mixes),
                strict=True,
            )
        )
        for reason in NAMES
    }
    for reason, (model, card, difference) in sorted(means.items(), key=lambda item: -item[1][2]):
        if difference:
            yield f"{reason:<20}{model:>7.1f}{card:>7.1f}{difference:>12.2f}"


def line(name: str, mix: Mix, lines: Lines) -> str:
    found = "same" if mix.same_largest else "other"
    there = "same" if lines.same_hottest else "other"
    by_difference = sorted(NAMES, key=lambda reason: -abs(mix.published[reason] - mix.model[reason]))
    differences = " ".join(
        f"{reason} {100 * mix.published[reason]:.1f}->{100 * mix.model[reason]:.1f}" for reason in by_difference[:SHOWN]
    )
    return (
        f"{name:<34}{mix.distance:6.3f}  {found:<5} {largest(mix.published)}/{largest(mix.model)}  "
        f"line {there} {lines.hottest(lines.published)}/{lines.hottest(lines.model)} {lines.rank_correlation:.2f}  "
        f"{mix.cycles} cycles  {differences}"
    )


if __name__ == "__main__":
    main()
