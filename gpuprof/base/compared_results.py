"""Results of runs in the form that every room uses: comparisons of arrays with their expected values, and the words
that findings and their tables are made of.
"""

import re
from typing import NamedTuple

from gpuprof.base.wording import plural

MOST_NAME = 40  # characters
NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MOST_NAME - 1}}}")  # of a trace generator, a table, a column, a kind of finding
ADVICE = "advice"  # what could be faster, and is not wrong
SEVERITIES = ("error", "warning", "note", ADVICE)  # worst first

MOST_SHOWN = 100  # errors that a run shows


class Result(NamedTuple):
    """One comparison of an array with its expected values. Numbers of the array's type are texts, as numpy writes them,
    also infinite ones.
    """

    launch: int  # index of the launch after which the array was read
    name: str  # of the array, as the user wrote it: "y", "saxpy#2.y"
    expected: str  # "ref.npy" without its folders, "zeros", "3.0"
    elements: int  # compared
    differ: int  # of these
    rtol: str  # relative tolerance
    atol: str  # absolute tolerance
    first: str = ""  # index of the first element that differs: "[3, 7]"; as the next four "" where none does
    got: str = ""  # its value
    wanted: str = ""  # the value it should have
    absolute_error: str = ""  # the largest of the elements that differ
    relative_error: str = ""  # the largest of the elements that differ

    @property
    def is_wrong(self) -> bool:
        return self.differ != 0

    def __str__(self) -> str:
        tolerance = f"rtol {self.rtol}, atol {self.atol}"
        elements = plural(self.elements, "element", "elements")
        if not self.is_wrong:
            every = "all " if self.elements > 1 else ""
            return f"{self.name} == {self.expected}: {every}{elements} as expected ({tolerance})"
        verb = "differs" if self.differ == 1 else "differ"
        return (
            f"{self.name} == {self.expected}: {self.differ:,} of {elements} {verb}, first "
            f"{self.first}: got {self.got}, expected {self.wanted}; largest error {self.absolute_error} absolute, "
            f"{self.relative_error} relative ({tolerance})"
        )
