"""Words that are not the field's, in docs, `--help`, messages and docstrings.

    python -m tests.house.words [FILE or FOLDER ...]

prints each place with the word and what to write instead; without arguments, all of docs/, README.md, CHANGELOG.md and
gpuprof/. `test_words` keeps docs, help, messages and docstrings free of them.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.paths import ROOT

# A regular expression of the word -> what to write instead.
INSTEAD = {
    r"told|tells?|telling": "reports, prints, says, names",
    r"nobody|somebody|anybody": "name the part of the program, or use the passive voice",
    r"(?<!everyone )(?<!readers )(?<!people )who(?! (use|uses|write|writes|run|runs|read|reads|has|have|want|wants|can|cannot|know|knows|need|needs)\b)": (
        "which, the warp that, the instruction that"
    ),
    r"behind": "after, below, under",
    r"beside": "next to, with, in addition to",
    r"asked for": "requested",
    r"comes? to|came to": "reaches",
    r"goes on|go on|went on": "continues",
    r"(?:stands?|stood)(?! for\b)(?! out\b)": "is",
    r"alone": "only",
    r"(?:told|counted|kept|held|known) apart": "separately",
    r"kept": "cached, stored, retained, recorded",
    r"anew": "again",
    r"gone (?:round|through)": "iterated",
    r"no longer than need be|as far as it goes": "say the bound",
}
ODD = re.compile(
    rf"(?<![-\w`])(?:{'|'.join(f'(?P<w{number}>{word})' for number, word in enumerate(INSTEAD))})(?![-\w`])", re.I
)
# A docstring that begins so cannot be understood without its neighbour.
HEADLESS = re.compile(r"(Of|What|Whether|That|Those|As|Who|Whose|Which|Where)\b")
PROSE = ("docs", "README.md", "CHANGELOG.md")


class Place(NamedTuple):
    path: Path
    line: int
    word: str
    instead: str
    text: str

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.word!r} ({self.instead}): {self.text.strip()[:100]}"


def odd_words(path: Path, line: int, text: str) -> Iterator[Place]:
    """The words of INSTEAD in `text`, which begins on `line` of the file; what is between backticks is a name."""
    for number, content in enumerate(text.splitlines()):
        for match in ODD.finditer(re.sub(r"`[^`]*`", lambda name: "`" * len(name[0]), content)):
            instead = next(text for text, group in zip(INSTEAD.values(), groups(match), strict=True) if group)
            yield Place(path, line + number, match[0], instead, content)


def groups(match: re.Match) -> list[str | None]:
    return [match[f"w{number}"] for number in range(len(INSTEAD))]


def of_prose(path: Path) -> list[Place]:
    """Odd words of a page of Markdown; code blocks and comments of HTML are left out."""
    blank = lambda block: "\n" * block[0].count("\n")  # noqa: E731
    return list(odd_words(path, 1, re.sub(r"```.*?```|<!--.*?-->", blank, path.read_text(), flags=re.DOTALL)))


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            yield node.body[0].value


def of_docstrings(path: Path) -> list[Place]:
    """Odd words of a module's docstrings, and those that begin without a subject."""
    odd = []
    for node in docstrings(ast.parse(path.read_text())):
        odd += odd_words(path, node.lineno, node.value)
        if head := HEADLESS.match(node.value):
            odd.append(Place(path, node.lineno, head[0], "begin with a subject or a verb", node.value.split("\n")[0]))
    return odd


def of_messages(path: Path) -> list[Place]:
    """Odd words of a module's other texts: a text has a blank, and letters on both sides of it."""
    tree = ast.parse(path.read_text())
    known = {id(node) for node in docstrings(tree)}
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known
    ]
    return [
        place for node in texts if re.search(r"\w \w", node.value) for place in odd_words(path, node.lineno, node.value)
    ]


def of_comments(path: Path) -> list[Place]:
    """Odd words of a module's comments."""
    return [
        place
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for comment in re.findall(r"(?:^|\s)#\s(.*)$", line)
        for place in odd_words(path, number, comment)
    ]


def places(paths: Iterable[Path]) -> Iterator[Place]:
    for path in paths:
        if path.is_dir():
            yield from places(sorted([*path.rglob("*.py"), *path.rglob("*.md")]))
        elif path.suffix == ".md":
            yield from of_prose(path)
        elif path.suffix == ".py":
            yield from sorted(
                [*of_docstrings(path), *of_messages(path), *of_comments(path)], key=lambda place: place.line
            )


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]] or [ROOT / name for name in (*PROSE, "gpuprof")]
    print(*places(named), sep="\n")
