"""Problems as lines of text, as a terminal has them."""

from collections.abc import Iterator

from gpuprof.check.render import line_text
from gpuprof.check.verdict import KINDS, BlamedLine, Problem

WORD_CELLS = 10  # of the word that a line begins with
LINE_INDENT = 13  # cells before a blamed line
OF_KIND = {"wrong results": "wrong", "requirement": "broken"}  # the other words are the kinds' names
assert set(OF_KIND) <= set(KINDS)


def problem_lines(problem: Problem) -> Iterator[str]:
    word = OF_KIND.get(problem.kind, problem.kind)
    subject = f"{problem.title}: " if problem.title else ""
    gap = " " if len(word) <= WORD_CELLS else "  "
    yield f"{word:{WORD_CELLS}s}{gap}{subject}{problem.message}"
    for line in blamed_lines(problem):
        yield f"{'':{LINE_INDENT}s}{line}"


def blamed_lines(problem: Problem) -> Iterator[str]:
    return map(blamed_line, problem.lines)


def blamed_line(line: BlamedLine) -> str:
    """ "blur.cu:8  900 -> 4900 warp-cycles (+4000)  x[1] = a;"."""
    return line_text(line.place, line.text, line.old, line.new, line.metric)
