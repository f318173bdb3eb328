"""The files whose texts go into a profile with the code.

A line table names files, and a source can make it name any: `#line 1 "/home/me/.netrc"`. A profile travels, so a text
goes into it only where it is evident that the program was made of it: the compiler says that it opened the file, or it
lies where the sources of a .ptx file lie.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from gpuprof.base.inputs import EMBEDDED, is_regular, read_input
from gpuprof.base.text_lines import decoded
from gpuprof.errors import UsageError

# Names of files that compilers to PTX read. Other files next to a .ptx file are not embedded.
SUFFIXES = frozenset((
    ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".cl", ".py", ".rs", ".jl",
    ".ptx", ".ll", ".mlir", ".ttir", ".ttgir",
))  # fmt: skip


def opened_texts(places: Mapping[str, str], opened: Collection[str]) -> dict[str, str]:
    """Name in the profile -> text, for the files among "name -> place" that the compiler says it `opened`."""
    known = {os.path.realpath(each) for each in opened}
    return _texts({name: path for name, path in places.items() if os.path.realpath(path) in known})


def texts_below(places: Mapping[str, str], folders: Collection[Path]) -> dict[str, str]:
    """Likewise for those that have a source's suffix and lie in one of the folders or further down, links followed."""
    roots = [Path(os.path.realpath(folder)) for folder in folders]

    def is_below(place: str) -> bool:
        real = Path(os.path.realpath(place))
        return real.suffix.lower() in SUFFIXES and any(real.is_relative_to(root) for root in roots)

    return _texts({name: place for name, place in places.items() if "\0" not in place and is_below(place)})


def _texts(places: Mapping[str, str]) -> dict[str, str]:
    texts = {}
    for name, path in places.items():
        text = _text_of(path)
        if text is not None:
            texts[name] = text
    return texts


def _text_of(place: str) -> str | None:
    """The file's text; None for a file that is no text, or too long for a profile."""
    if not is_regular(place):
        return None
    try:
        data = read_input(place, EMBEDDED)
        return None if b"\0" in data else decoded(data, place, "replace")
    except UsageError:
        return None
