"""`python -m tests.silicon.program_time`: whole programs that others timed on real cards, and the model's time.

Prints a line a row (published, ours, their ratio), the mean error of each set, and the order of pairs. With --write the
results go into program_results.csv.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby

from tests.silicon.program_results import Result, merged, result_of, store, stored, summary
from tests.silicon.program_rows import SETS, ProgramRow, rows
from tests.silicon.program_run import NoFigure, modelled_us


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="", choices=("", *SETS), help="only this set")
    parser.add_argument("--case", default="", help="only rows whose id has this text in it")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="store the results")
    parser.add_argument("--stored", action="store_true", help="run nothing, show what is stored")
    asked = parser.parse_args()
    chosen = [row for row in rows() if asked.set in ("", row.set) and asked.case in row.id]
    if asked.stored:
        ids = {row.id for row in chosen}
        found = [result for result in stored() if result.id in ids]
        print("\n".join(map(line, found)))
    else:
        found = []
        for result, seconds in measured(chosen, asked.jobs):
            print(f"{line(result)}  {seconds:.1f} s", flush=True)
            found.append(result)
            if asked.write:
                store(merged(found))
    print("\n".join(["", *summary(found)]))


def measured(chosen: Sequence[ProgramRow], processes: int) -> Iterator[tuple[Result, float]]:
    """A result a row, with the seconds that it took. Rows of one program go to one process."""
    groups = [list(group) for _, group in groupby(sorted(chosen, key=_place), key=_place)]
    if processes == 1:
        for group in groups:
            yield from map(measure_one, group)
        return
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(_measure_all, groups):
            yield from found


def _place(row: ProgramRow) -> tuple[str, str]:
    return row.program, row.card


def _measure_all(group: list[ProgramRow]) -> list[tuple[Result, float]]:
    return list(map(measure_one, group))


def measure_one(row: ProgramRow) -> tuple[Result, float]:
    begun = time.monotonic()
    try:
        result = result_of(row, modelled_us(row))
    except NoFigure as error:
        result = result_of(row, None, str(error))
    return result, time.monotonic() - begun


def line(result: Result) -> str:
    begin = f"{result.id:<44} {result.published_us:>11.4g} us"
    if result.model_us is None:
        return f"{begin} {'-':>11}    {'-':>6} {result.reason}"
    return f"{begin} {result.model_us:>11.4g} us {result.ratio:6.2f}"


if __name__ == "__main__":
    main()
