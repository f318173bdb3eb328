"""Every type of thing that an output's name can stand for, and whether it may be written."""

import os
import pty
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

WRITTEN, REFUSED = "written", "refused"
FOREIGN = b"notes of mine\n"


class Given(NamedTuple):
    """A folder of a case, and what the places are made of."""

    folder: Path
    name: str  # of the output
    own: bytes  # a file as the command writes it
    read: Path  # a file in the folder that the command reads


class Place(NamedTuple):
    make: Callable[[Given], str | None]  # gives another name for the output than the given one
    outcome: str
    with_force: str


PLACES: dict[str, Place] = {}


def place(outcome: str, with_force: str | None = None) -> Callable:
    """Without `with_force` the outcome is the same with --force."""

    def add(make: Callable[[Given], str | None]) -> Callable:
        PLACES[make.__name__] = Place(make, outcome, with_force or outcome)
        return make

    return add


def path(given: Given) -> Path:
    return given.folder / given.name


def link(given: Given, target: str | Path) -> None:
    path(given).symlink_to(target)


@place(WRITTEN)
def nothing(given):
    pass


@place(WRITTEN)
def own_kind(given):
    path(given).write_bytes(given.own)


@place(REFUSED, WRITTEN)
def foreign_file(given):
    """Of a text format the name alone says what it is."""
    path(given).write_bytes(FOREIGN)


@place(WRITTEN)
def empty(given):
    path(given).touch()


@place(REFUSED, WRITTEN)
def link_to_a_foreign_file(given):
    (given.folder / "notes").write_bytes(FOREIGN)
    link(given, "notes")


@place(WRITTEN)
def link_to_own_kind(given):
    (given.folder / "sub").mkdir()
    (given.folder / "sub" / given.name).write_bytes(given.own)
    link(given, Path("sub", given.name))


@place(WRITTEN)
def link_to_nothing(given):
    (given.folder / "sub").mkdir()
    link(given, Path("sub", given.name))


@place(REFUSED)
def link_into_no_folder(given):
    link(given, "none/there")


@place(REFUSED)
def hard_link_to_what_is_read(given):
    path(given).hardlink_to(given.read)


@place(REFUSED)
def link_to_what_is_read(given):
    link(given, given.read.name)


@place(REFUSED)
def link_to_a_folder(given):
    (given.folder / "sub").mkdir()
    link(given, "sub")


@place(REFUSED)
def link_to_a_full_device(given):
    link(given, "/dev/full")


@place(WRITTEN)
def link_to_the_null_device(given):
    link(given, "/dev/null")


@place(WRITTEN)
def link_to_stdout(given):
    link(given, "/dev/stdout")


@place(REFUSED)
def link_to_itself(given):
    link(given, given.name)


@place(REFUSED)
def folder(given):
    path(given).mkdir()


@place(REFUSED)
def fifo(given):
    os.mkfifo(path(given))


@place(REFUSED)
def unix_socket(given):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path(given)))  # whose name has 108 bytes at most


TERMINALS = []  # kept open


@place(REFUSED)
def link_to_a_terminal(given):
    TERMINALS[:] = pty.openpty()
    os.fchmod(TERMINALS[1], 0o666)
    link(given, os.ttyname(TERMINALS[1]))


@place(REFUSED)
def closed_descriptor(given):
    return "/dev/fd/99"


@place(REFUSED)
def no_folder(given):
    return f"none/{given.name}"


@place(REFUSED)
def below_a_file(given):
    (given.folder / "notes").write_bytes(FOREIGN)
    return f"notes/{given.name}"


@place(REFUSED)
def folder_that_is_not_writable(given):
    (given.folder / "sub").mkdir(mode=0o500)
    return f"sub/{given.name}"


@place(REFUSED)
def too_long_a_name(given):
    return "x" * 256 + given.name


@place(REFUSED)
def this_folder(given):
    return "."


@place(REFUSED)
def no_name(given):
    return ""


@place(REFUSED)
def name_of_a_folder(given):
    return f"{given.name}/"
