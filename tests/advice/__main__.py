"""python -m tests.advice [--published] [NAME ...] [--write]: advice as a table, on the corpus or on kernels before
published steps; --write: into docs/advice.md.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.advice.pairs import CORPUS, read_pairs
from tests.advice.pairs_measured import Outcome, outcome_of
from tests.advice.published import table
from tests.advice.published.outcomes import outcome_of as outcome_of_step, write_outcomes
from tests.advice.published.steps import read_steps
from tests.paths import DOCS

PAGE = DOCS / "advice.md"
HELD_BACK = CORPUS.parent / "held_back"
TITLES = {CORPUS: "The corpus", HELD_BACK: "Held back"}
BEGIN, END = "<!-- table: python -m tests.advice --write -->", "<!-- end of the table -->"
HEAD = ("| slow kernel | chip | fault | first piece | promised | twin |", "|---|---|---|---|---|---|")


def outcomes(folder: Path, names: Sequence[str]) -> Iterator[Outcome]:
    for pair in read_pairs(folder):
        if not names or pair.name in names:
            with tempfile.TemporaryDirectory() as made:
                outcome = outcome_of(pair, Path(made))
            print(line(outcome), flush=True)
            yield outcome


def line(outcome: Outcome) -> str:
    pair = outcome.pair
    wanted = " or ".join(pair.topics) + (f":{pair.place}" if pair.place else "")
    first = outcome.first + (f":{outcome.first_line}" if outcome.first_line else "") if outcome.first else "-"
    mark = "" if outcome.is_right else " (wrong)"
    promised = f"{outcome.promised:.2f}" if outcome.promised else "-"
    near = "" if outcome.is_near else " (off)"
    return f"| {pair.name} | {pair.chip} | {wanted} | {first}{mark} | {promised}{near} | {outcome.twin:.2f} |"


def summary(found: Sequence[Outcome]) -> str:
    n = len(found)
    right, named, near = (
        sum(getattr(each, name) for each in found) for name in ("is_right", "names_the_line", "is_near")
    )
    return f"The right topic is first in {right} of {n}, with its line in {named}; {near} gains are within 15 %."


def block(by_folder: dict[Path, list[Outcome]]) -> Iterable[str]:
    for folder, found in by_folder.items():
        yield from (f"### {TITLES[folder]}", "", summary(found), "", *HEAD, *map(line, found), "")


def write(begin: str, lines: Iterable[str], end: str) -> None:
    """Puts lines between two of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(before + "\n".join([begin, "", *lines, end]) + after, encoding="utf-8")


def corpus(names: Sequence[str], is_written: bool) -> None:
    by_folder = {folder: list(outcomes(folder, names)) for folder in TITLES}
    for folder, found in by_folder.items():
        print(TITLES[folder], summary(found), sep=": ")
    if is_written:
        write(BEGIN, block(by_folder), END)


def published(names: Sequence[str], is_written: bool) -> None:
    found = []
    for step in read_steps():
        if not names or step.before in names:
            found.append((step, outcome_of_step(step)))
            print(table.line(*found[-1]), flush=True)
    print(*table.summary(found))
    if is_written:
        write_outcomes(outcome for _, outcome in found)
        write(table.BEGIN, table.block(found), table.END)


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    run = published if "--published" in sys.argv else corpus
    run(names, "--write" in sys.argv and not names)


if __name__ == "__main__":
    main()
