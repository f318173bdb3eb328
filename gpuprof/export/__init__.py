"""Profiles in the formats of other tools: a row of FORMATS and a file in a sub-room each.

    NAME.gpudb ─ write ─> a flame graph, ...

The table imports nothing, so that help is quick. A format's file has `write(database, path)`, which writes the whole
file at `path`, and raises NotComparable where the database has nothing that the format could show. Reads databases
alone.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # what it is and who reads it, for --help and docs/export.md
    extension: str  # of files, from the dot on
    file: str  # that writes it: sub-room and module
    mark: bytes = b""  # first bytes of each file that we write in a binary format, by which it is known again


PERFETTO_MARK = b"\n\x04P\x01h\x01"  # a packet that begins a sequence

FORMATS = {
    "folded": Entry("folded stacks, for flamegraph.pl, inferno and speedscope", ".folded", "paths.folded"),
    "perfetto": Entry(
        "launches over time, with counters, for Perfetto", ".pftrace", "timeline.perfetto", b"\n\x04P\x01h\x01"
    ),
    "chrome": Entry("launches over time, for chrome://tracing and Perfetto", ".trace.json", "timeline.chrome"),
    "cfg-dot": Entry("control-flow graph of `--trace graph`, for Graphviz", ".dot", "graph.cfg_dot"),
    "cfg-svg": Entry("control-flow graph of `--trace graph`, as a picture", ".cfg.svg", "graph.cfg_svg"),
}
