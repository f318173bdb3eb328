"""`python -m tests.prediction`: simulates the corpus on every chip, and judges predictions by it.

With --write the rows go into truth.csv and bottlenecks.csv beside this file; rows that are not simulated stay.
"""

import argparse

from tests.prediction.simulate import CARRIED_OUT, CHIPS, simulate_all
from tests.prediction.stored import BOTTLENECKS, TRUTH, BottleneckRow, TruthRow, merged, read, write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only kernels and tests whose name has this text in it")
    parser.add_argument("--chip", action="append", choices=CHIPS, help="only this chip; may be repeated")
    parser.add_argument("--no-units", action="store_true", help="do not double the rate of each unit")
    parser.add_argument("--missing", action="store_true", help="only what has no row yet")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="store the rows")
    asked = parser.parse_args()
    truth, bottlenecks = read(TRUTH, TruthRow), read(BOTTLENECKS, BottleneckRow)
    chips = asked.chip or CHIPS
    names = [name for name in CARRIED_OUT if asked.only in name]
    if asked.missing:
        there = {(row.name, row.chip) for row in (truth if asked.no_units else bottlenecks)}
        there |= {(row.name, row.chip) for row in truth if row.why}
        names = [name for name in names if any((name, chip) not in there for chip in chips)]
    for found in simulate_all(names, chips, not asked.no_units, asked.jobs):
        for row in found.truth if asked.no_units else found.bottlenecks:
            print(*row, flush=True)
        truth = merged(truth, found.truth, list(CARRIED_OUT), CHIPS)
        bottlenecks = merged(bottlenecks, found.bottlenecks, list(CARRIED_OUT), CHIPS)
        if asked.write:
            write(TRUTH, TruthRow, truth)
            write(BOTTLENECKS, BottleneckRow, bottlenecks)


if __name__ == "__main__":
    main()
