"""`python -m tests.prediction`: predictions beside simulations of kernels, tests, frames, on chips nobody fitted to.

Collects each on the reference chip, predicts it for the others, and prints the tables of docs/prediction.md. With
--simulate the chips are simulated first, into truth.csv and bottlenecks.csv beside this file, and into draws/truth.csv.
With --write the tables go into the page, and what was compared into gpuprof/predict/validated.csv and
validated_draws.csv.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.validated import DRAWS, FILES, LAUNCHES, text_of
from tests.prediction.chips import REFERENCE
from tests.prediction.draws.chips import chip_named as draw_chip
from tests.prediction.draws.judge import DrawPoint, judge_draws
from tests.prediction.draws.simulate import CHIPS as DRAW_CHIPS, DRAWN, simulate as simulate_frame
from tests.prediction.draws.stored import DRAW, TRUTH as DRAW_TRUTH, DrawRow, merged as merged_draws
from tests.prediction.draws.tables import BEGIN as DRAWS_BEGIN, END as DRAWS_END, draw_tables
from tests.prediction.judge import LAUNCH, errors_of, judge, validated_chips
from tests.prediction.simulate import CARRIED_OUT, CHIPS, WITH_UNITS, simulate_all
from tests.prediction.stored import BOTTLENECKS, TRUTH, BottleneckRow, TruthRow, merged, read, write
from tests.prediction.tables import PAGE, tables, with_tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only kernels and tests whose name has this text in it")
    parser.add_argument("--frames", action="store_true", help="only frames of draws")
    parser.add_argument("--simulate", action="store_true", help="simulate the chips anew, and store the rows")
    parser.add_argument(
        "--chip",
        action="append",
        choices=sorted({*CHIPS, *DRAW_CHIPS}),
        help="simulate only this chip; may be repeated",
    )
    parser.add_argument("--no-units", action="store_true", help="simulate without doubling the rate of each unit")
    parser.add_argument("--missing", action="store_true", help="simulate only what has no row yet")
    parser.add_argument("--jobs", type=int, default=1, help="processes that simulate")
    parser.add_argument(
        "--recordings", type=Path, help="keep recordings of the reference chip here, and use what is here"
    )
    parser.add_argument("--points", action="store_true", help="print each point")
    parser.add_argument("--write", action="store_true", help="store the tables")
    asked = parser.parse_args()
    if asked.write and asked.only:
        parser.error("--write stores tables of all: leave out --only")
    names = [name for name in CARRIED_OUT if asked.only in name and not asked.frames]
    frames = [name for name in DRAWN if asked.only in name]
    if asked.simulate:
        of_launches, of_draws = (
            [each for each in asked.chip or chips if each in chips] for chips in (CHIPS, DRAW_CHIPS)
        )
        simulate_and_store(names, of_launches, not asked.no_units, asked.missing, asked.jobs)
        simulate_frames(frames, of_draws, not asked.no_units, asked.missing, asked.recordings)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = asked.recordings or Path(made)
        judged = judge(folder, names, read(TRUTH, TruthRow), read(BOTTLENECKS, BottleneckRow))
        drawn = judge_draws(frames, read(DRAW_TRUTH, DrawRow), folder)
    if asked.points:
        for point in judged.points:
            best = " ".join(f"{unit}:{share:.2f}" for unit, share in list((point.shares or {}).items())[:2])
            ratio = point.predicted / point.simulated
            print(f"{point.name:<32} {point.chip:<18} {point.simulated:>9.2f} {ratio:6.3f} {point.unit:<8} {best}")
        print_draws(drawn)
    if judged.points:
        print(tables(judged))
    if drawn:
        print(draw_tables(drawn))
    if asked.write and not asked.frames:
        PAGE.write_text(with_tables(PAGE.read_text(), tables(judged)))
        kernels = [point for point in judged.points if point.level == LAUNCH]
        FILES[LAUNCHES].write_text(text_of(validated_chips(kernels), errors_of(kernels)))
    if asked.write:
        PAGE.write_text(with_tables(PAGE.read_text(), draw_tables(drawn), DRAWS_BEGIN, DRAWS_END))
        chips = numbers_of([draw_chip(name) for name in DRAW_CHIPS])
        FILES[DRAWS].write_text(text_of(chips, np.array([point.error for point in drawn if point.level == DRAW])))


def print_draws(points: list[DrawPoint]) -> None:
    for point in points:
        best = " ".join(f"{unit}:{share:.2f}" for unit, share in list((point.shares or {}).items())[:2])
        ratios = f"{point.predicted / point.simulated:6.3f} {point.by_rules / point.simulated:6.3f}"
        name = f"{point.frame} {point.level} {point.part}"
        print(f"{name:<32} {point.chip:<22} {point.simulated:>9.2f} {ratios} {point.unit:<8} {best}")


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


def simulate_frames(
    frames: list[str], chips: list[str], with_units: bool, missing: bool, recordings: Path | None
) -> None:
    """Each as it is done, so that --missing goes on where this ended."""
    truth = read(DRAW_TRUTH, DrawRow)
    there = {(row.frame, row.chip) for row in truth if missing}
    with tempfile.TemporaryDirectory() as made:
        folder = recordings or Path(made)
        for frame in frames:
            rest = [chip for chip in chips if (frame, chip) not in there]
            if rest:
                truth = merged_draws(truth, simulate_frame(frame, rest, folder, with_units), DRAWN, DRAW_CHIPS)
                write(DRAW_TRUTH, DrawRow, truth)
                print(frame, *rest, flush=True)


assert CHIPS[0] == REFERENCE

if __name__ == "__main__":
    main()
