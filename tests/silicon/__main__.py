"""`python -m tests.silicon`: whole kernels that others measured on real cards, beside the model's cycles.

Prints a line per row, then for each set the mean error, the median ratio, the 90th percentile and the rank correlation,
and the steps of ladders that are far off. With --write the rows go into gpuprof/chips/fidelity/silicon.csv,
where `gpuprof fidelity` and the reports find them, and into the tables of docs/fidelity.md.
"""

import argparse

from gpuprof.chips.fidelity.published_kernels import Row
from tests.silicon.cases import all_cases
from tests.silicon.measure import COMPILERS, Job, measure
from tests.silicon.reasons import with_reasons
from tests.silicon.refit import chosen, report, sensitivities
from tests.silicon.run import modelled
from tests.silicon.show import line, summary
from tests.silicon.sixteenths import SIXTEENTHS, sixteenth
from tests.silicon.whole import pairs
from tests.silicon.write import PAGE, merged, store, with_tables

BOTH = "both"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="", help="only this set")
    parser.add_argument("--chip", default="", help="only this card of tests/silicon/cards")
    parser.add_argument("--case", default="", help="only cases whose id has this text in it")
    parser.add_argument("--family", default="", help="only this family")
    parser.add_argument(
        "--sixteenth", type=int, choices=range(1, SIXTEENTHS + 1), help="only these cases of each family"
    )
    parser.add_argument("--compiler", choices=(*COMPILERS, BOTH), default="clang")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="store the rows")
    parser.add_argument("--page", action="store_true", help="run nothing, write docs/fidelity.md from what is stored")
    parser.add_argument("--whole", action="store_true", help="five launches on a part of the chip and whole")
    parser.add_argument("--refit", type=int, metavar="N", help="fit the constants to N rows of each family and card")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(with_tables(PAGE.read_text()))
        return
    if asked.whole:
        for scaled, whole in pairs():
            part, all_of = (modelled(case, "clang").cycles for case in (scaled, whole))
            print(f"{scaled.id:<46} {part:>12.0f} {all_of:>12.0f} {part / all_of:6.3f}", flush=True)
        return
    known = all_cases()
    every = [case for cases in known.values() for case in cases]
    some = sixteenth(every, asked.sixteenth) if asked.sixteenth else {case.id for case in every}
    jobs = [
        Job(name, case, compiler)
        for compiler in (COMPILERS if asked.compiler == BOTH else (asked.compiler,))
        for name, cases in known.items()
        for case in cases
        if asked.set in ("", name)
        and asked.chip in ("", case.card)
        and asked.family in ("", case.family)
        and asked.case in case.id
        and case.id in some
    ]
    if asked.refit:
        cases = chosen([job.case for job in jobs], asked.refit)
        print("\n".join(report(sensitivities(cases, jobs[0].compiler, asked.jobs))))
        return
    rows: list[Row] = []
    for found in measure(jobs, asked.jobs):
        print(line(found.row, found.seconds), flush=True)
        rows.append(found.row)
    order = {(job.case.id, job.compiler): place for place, job in enumerate(jobs)}
    rows = with_reasons(sorted(rows, key=lambda row: order[row.id, row.compiler]))
    print("\n".join(["", *summary(rows)]))
    if asked.write:
        store(merged(rows))


if __name__ == "__main__":
    main()
