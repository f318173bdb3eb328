"""Comparisons as text: `y == ref.npy, rtol=1e-5` after a launch, `y=ref.npy` on the command line.

expected   = array "==" reference {"," ("rtol" | "atol") "=" number}       after a launch
--expect   = name ("=" | "==") reference                                   --save = name "=" FILE.npy
name       = [kernel ["#" integer] "."] (array | integer)                  array = identifier
           an array's or a parameter's name, or the argument's place from 1 on
reference  = "zeros" | "ones" | "arange" | number | FILE.npy | '"' FILE.npy '"'
"""

import math
import re
from pathlib import Path

from gpuprof.base.wording import base_name
from gpuprof.device.launching.argument_values import PLAIN_STARTS, ArrayName, Expected, Saved
from gpuprof.device.launching.text_scanner import IDENTIFIER, NumberParser

_NAME = re.compile(
    r"(?:(?P<kernel>[^=#]+?)(?:#(?P<ordinal>[1-9]\d{0,8}))?\.)?(?P<array>[A-Za-z_$][A-Za-z0-9_$]*|\d{1,4})(?=\s*=)",
    re.ASCII,
)
_WORD = re.compile(r'"([^"\n]*)"|([^\s,;()"]+)', re.ASCII)
TOLERANCES = ("rtol", "atol")


def parse_expected(text: str, place: str) -> Expected:
    """The comparison that the text of an --expect asks for. Raises UsageError."""
    parser = ResultParser(text, place)
    array = parser.array_name("as in y=ref.npy or saxpy#2.y=ref.npy")
    if not parser.accept("=="):
        parser.expect("=", "between an array and its expected values")
    expected = Expected(array, *parser.reference(), place=place)
    parser.end("nothing may follow the expected values; --rtol and --atol give tolerances")
    return expected


def parse_saved(text: str, place: str) -> Saved:
    """The array and the file that the text of a --save names. Raises UsageError."""
    parser = ResultParser(text, place)
    array = parser.array_name("as in y=out.npy or saxpy#2.y=out.npy")
    parser.expect("=", "between an array and its file")
    start, path = parser.at, text[parser.at :].strip()
    if not path:
        parser.fail("expected the name of a file", start)
    return Saved(array, Path(path))


def parse_comparison(text: str, place: str) -> Expected:
    """The comparison in a comment of its own. Raises UsageError."""
    parser = ResultParser(text, place)
    expected = parser.comparison()
    parser.accept(";")
    parser.end("nothing may follow the comparison")
    return expected


class ResultParser(NumberParser):
    """Parses comparisons: one method per rule of the module's grammar."""

    def comparison(self) -> Expected:
        self.space()
        start = self.at
        match = self.match(IDENTIFIER)
        if not match:
            self.fail("expected an array to compare, as in y == ref.npy", start)
        self.expect("==", "and the expected values")
        reference, text = self.reference()
        given: dict[str, float] = {}
        while self.accept(","):
            word = self.match(IDENTIFIER)
            if not word or word.group() not in TOLERANCES or word.group() in given:
                self.fail("expected rtol=NUMBER or atol=NUMBER", word.start() if word else self.at)
            self.expect("=", f"after {word.group()}")
            given[word.group()] = self.tolerance()
        return Expected(ArrayName(match.group(), match.group()), reference, text, **given, place=self.place)

    def array_name(self, example: str) -> ArrayName:
        self.space()
        match = self.match(_NAME)
        if not match:
            self.fail(f"expected the name of an array, {example}")
        ordinal = match["ordinal"]
        return ArrayName(
            match.group().strip(), match["array"], (match["kernel"] or "").strip(), int(ordinal) if ordinal else None
        )

    def reference(self) -> tuple[str | int | float, str]:
        """The reference that an array is compared with, and its text."""
        self.space()
        start = self.at
        match = self.match(_WORD)
        word = (match.group(1) or match.group(2) or "") if match else ""
        if word in PLAIN_STARTS or word.endswith(".npy"):
            return word, base_name(word)
        self.at = start
        if not word or not re.match(r"[-+.\d(]|inf\b|nan\b", word):
            self.fail(f"expected {', '.join(PLAIN_STARTS)}, a number or a .npy file", start)
        value = self.number()
        return value, self.since(start)

    def tolerance(self) -> float:
        start = self.at
        value = float(self.number())
        if not 0 <= value < math.inf:
            self.fail(f"a tolerance is a finite number from 0 on, not {value}", start)
        return value

    def end(self, message: str) -> None:
        self.space()
        if self.at < len(self.text):
            self.fail(message)
