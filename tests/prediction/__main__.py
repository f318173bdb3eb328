"""`python -m tests.prediction`: predictions beside simulations, of kernels and tests, on chips nobody fitted to.

Collects each on the reference chip, predicts it for the others, and prints the tables of docs/prediction.md. With
--simulate the chips are simulated first, into truth.csv and bottlenecks.csv beside this file. With --write the tables
go into the page, and what was compared into gpuprof/predict/validated.csv.
"""

import argparse
import tempfile
from pathlib import Path

from gpuprof.predict.validated import FILE, text_of
from tests.prediction.chips import REFERENCE
from tests.prediction.judge import LAUNCH, errors_of, judge, validated_chips
from tests.prediction.simulate import CARRIED_OUT, CHIPS, WITH_UNITS, simulate_all
from tests.prediction.stored import BOTTLENECKS, TRUTH, BottleneckRow, TruthRow, merged, read, write
from tests.prediction.tables import PAGE, tables, with_tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only kernels and tests whose name has this text in it")
    parser.add_argument("--simulate", action="store_true", help="simulate the chips anew, and store the rows")
    parser.add_argument("--chip", action="append", choices=CHIPS, help="simulate only this chip; may be repeated")
    parser.add_argument("--no-units", action="store_true", help="simulate without doubling the rate of each unit")
    parser.add_argument("--missing", action="store_true", help="simulate only what has no row yet")
    parser.add_argument("--jobs", type=int, default=1, help="processes that simulate")
    parser.add_argument(
        "--recordings", type=Path, help="keep recordings of the reference chip here, and use what is here"
    )
    parser.add_argument("--points", action="store_true", help="print each point")
    parser.add_argument("--write", action="store_true", help="store the tables")
    asked = parser.parse_args()
    names = [name for name in CARRIED_OUT if asked.only in name]
    if asked.simulate:
        simulate_and_store(names, asked.chip or CHIPS, not asked.no_units, asked.missing, asked.jobs)
        return
    with tempfile.TemporaryDirectory() as folder:
        judged = judge(asked.recordings or Path(folder), names, read(TRUTH, TruthRow), read(BOTTLENECKS, BottleneckRow))
    if asked.points:
        for point in judged.points:
            best = " ".join(f"{unit}:{share:.2f}" for unit, share in list((point.shares or {}).items())[:2])
            ratio = point.predicted / point.simulated
            print(f"{point.name:<32} {point.chip:<18} {point.simulated:>9.2f} {ratio:6.3f} {point.unit:<8} {best}")
    print(tables(judged))
    if asked.write:
        PAGE.write_text(with_tables(PAGE.read_text(), judged))
        kernels = [point for point in judged.points if point.level == LAUNCH]
        FILE.write_text(text_of(validated_chips(kernels), errors_of(kernels)))


def simulate_and_store(names: list[str], chips: list[str], with_units: bool, missing: bool, jobs: int) -> None:
    truth, bottlenecks = read(TRUTH, TruthRow), read(BOTTLENECKS, BottleneckRow)
    there = {(row.name, row.chip) for row in (bottlenecks if with_units else truth) if missing}
    there |= {(row.name, row.chip) for row in truth if row.why and missing}
    chips_of = {name: [chip for chip in chips if (name, chip) not in there] for name in names}
    if missing and with_units:
        chips_of = {name: chips_of[name] for name in names if name in WITH_UNITS}
    for found in simulate_all({name: rest for name, rest in chips_of.items() if rest}, with_units, jobs):
        for row in found.bottlenecks if with_units else found.truth:
            print(*row, flush=True)
        truth = merged(truth, found.truth, list(CARRIED_OUT), CHIPS)
        bottlenecks = merged(bottlenecks, found.bottlenecks, list(CARRIED_OUT), CHIPS)
        write(TRUTH, TruthRow, truth)
        write(BOTTLENECKS, BottleneckRow, bottlenecks)


assert CHIPS[0] == REFERENCE

if __name__ == "__main__":
    main()
