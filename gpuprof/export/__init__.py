"""Profiles in the formats of other tools: a row of FORMATS and a file beside this one each.

    NAME.gpudb ─ write ─> a flame graph, ...

The table imports nothing, so that help is quick. A format's file has `write(database, path)`, which writes the whole
file at `path`, and raises NotComparable where the database has nothing that the format could show. Reads databases
alone.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # what it is and who reads it, for --help and docs/export.md
    extension: str  # of files, from the dot on
    file: str  # that writes it, in this folder


FORMATS = {
    "folded": Entry("folded stacks, for flamegraph.pl, inferno and speedscope", ".folded", "folded"),
    "cfg-dot": Entry("control-flow graph of `--trace graph`, for Graphviz", ".dot", "cfg_dot"),
    "cfg-svg": Entry("control-flow graph of `--trace graph`, as a picture", ".cfg.svg", "cfg_svg"),
    "perfetto": Entry("tasks and the flows between them in time, for ui.perfetto.dev", ".pftrace", "perfetto"),
    "dot": Entry("graph of tasks and their relations, for Graphviz", ".relations.dot", "relations_dot"),
    "csv": Entry("relations between tasks, a row each", ".relations.csv", "relations_csv"),
}
