"""`python -m tests.silicon [--set NAME] [--chip CARD] [--case TEXT] [--compiler clang|nvcc]`: published launches beside
the model's. Prints a line per row: our cycles over the published ones.
"""

import argparse
import time

from tests.silicon.cases import all_cases
from tests.silicon.published import by_id, published_cycles
from tests.silicon.run import modelled_cycles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="", help="only this set")
    parser.add_argument("--chip", default="", help="only this card of tests/silicon/cards")
    parser.add_argument("--case", default="", help="only cases whose id has this text in it")
    parser.add_argument("--compiler", default="clang", help="clang or nvcc")
    asked = parser.parse_args()
    for name, cases in all_cases().items():
        for case in cases:
            if asked.set in ("", name) and asked.chip in ("", case.card) and asked.case in case.id:
                begun = time.monotonic()
                ours, theirs = modelled_cycles(case, asked.compiler), published_cycles(case)
                print(
                    f"{case.id:<44}{theirs:>14.0f}{ours:>14.0f}{ours / theirs:>8.2f}  {by_id()[case.id].trust:<12}"
                    f"{time.monotonic() - begun:6.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
