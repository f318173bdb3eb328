"""Options that name a file to write: what kinds of file they are, and what such a file may replace.

    option ─ OutputPath(kinds) ─> path ─ claim ─> the file may be written, and only by this command

Each kind takes its marks from where its format is declared, which is imported when a command asks for it.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from pathlib import Path

import click

from gpuprof.base.outputs import Kind, check_output

STDOUT = 1  # the number of the open file
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"  # PNG specification, 5.2
# offset of PRAGMA application_id in a file: SQLite, "Database File Format", 1.3
APPLICATION_ID_OFFSET = 68


class OutputPath(click.Path):
    """The type of an option that names a file to write. `kinds`: functions of this file."""

    def __init__(self, *kinds: Callable[[], Kind]):
        super().__init__(path_type=Path)
        self.kinds = kinds

    def convert(self, value, param, ctx):
        text = os.fspath(value)
        if not text:
            self.fail("the name is empty; give a file name", param, ctx)
        if text.endswith(os.sep):
            self.fail(f"{text} names a folder; give a file name", param, ctx)
        return super().convert(value, param, ctx)


class SavePath(OutputPath):
    """The type of --save: NAME=OUT.npy, as a `Saved`."""

    def convert(self, value, param, ctx):
        from gpuprof.device.launching.expected_results import parse_saved

        _, equals, path = value.partition("=")
        if equals:
            super().convert(path.strip(), param, ctx)
        return parse_saved(value, "--save")


def claim(
    output: Path, kind: Callable[[], Kind], inputs: Iterable[Path], force: bool, may_be_input: bool = False
) -> None:
    """Checks, before any work, that the output may be written; a recording or a table is claimed until the command
    ends. When the output is stdout, what is printed goes to stderr.

    Raises UsageError when it may not, and GpuprofError when the system refuses.
    """
    known = kind()
    target = check_output(output, known, inputs, force, may_be_input)
    if target.descriptor == STDOUT:
        click.get_current_context().with_resource(redirect_stdout(sys.stderr))
    if known.one_writer:
        from gpuprof.base.output_claims import claimed

        click.get_current_context().with_resource(claimed(target))


def gpubin() -> Kind:
    from gpuprof.isa.gpubin.layout import ELF_IDENT, N_IDENT_COMMON, NOTE_HEADER, NOTE_OFFSET, NOTE_OWNER

    owner = (NOTE_OFFSET + NOTE_HEADER.size, NOTE_OWNER)
    return Kind("gpubin", ((0, ELF_IDENT[:N_IDENT_COMMON]), owner))


def ptx() -> Kind:
    return Kind("PTX file", suffixes=(".ptx",))


def recording() -> Kind:
    from gpuprof.records.schema import MAGIC

    return Kind("recording", ((0, MAGIC),), keeps_old=True, one_writer=True)


def traces() -> Kind:
    from gpuprof.run.trace_file.layout import MAGIC

    return Kind("file of traces", ((0, MAGIC),), one_writer=True)


def database() -> Kind:
    from gpuprof.correlate.schema import APPLICATION_ID

    return _sqlite("database of a recording", APPLICATION_ID)


def baseline() -> Kind:
    from gpuprof.check.baseline import TITLE

    return Kind("baseline", ((0, TITLE.encode()),))


def csv_table() -> Kind:
    return Kind("CSV table", suffixes=(".csv",), one_writer=True)


def json_table() -> Kind:
    return Kind("JSON table", suffixes=(".json",), one_writer=True)


def sqlite_table() -> Kind:
    from gpuprof.sweep.write_table import APPLICATION_ID

    return _sqlite("table of a sweep", APPLICATION_ID)._replace(one_writer=True)


def png_plot() -> Kind:
    return Kind("PNG image", ((0, PNG_SIGNATURE),))


def svg_plot() -> Kind:
    return Kind("SVG image", suffixes=(".svg",))


def npy() -> Kind:
    from numpy.lib.format import MAGIC_PREFIX

    return Kind("array of numpy", ((0, MAGIC_PREFIX),))


def export(name: str) -> Callable[[], Kind]:
    """The kind of a format of `gpuprof.export.FORMATS`: one without a mark is text."""

    def kind() -> Kind:
        from gpuprof.export import FORMATS

        entry = FORMATS[name]
        marks = ((0, entry.mark),) if entry.mark else ()
        return Kind(f"file of the format {name}", marks, (entry.extension,))

    return kind


def check_format(format_: str) -> Callable[[], Kind]:
    """The kind of a format of `gpuprof.check.renderers.RENDERERS`."""

    def kind() -> Kind:
        from gpuprof.check.renderers import RENDERERS

        entry = RENDERERS[format_]
        marks = ((0, entry.mark.encode()),) if entry.mark else ()
        return Kind(f"{format_} output of a check", marks, entry.suffixes)

    return kind


def _sqlite(name: str, application_id: int) -> Kind:
    from gpuprof.correlate.database import SQLITE_MAGIC

    return Kind(name, ((0, SQLITE_MAGIC), (APPLICATION_ID_OFFSET, application_id.to_bytes(4, "big"))))
