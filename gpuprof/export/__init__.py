"""Profiles in the formats of other tools: a row of FORMATS and a file in a sub-room each.

    NAME.gpudb ─ write ─> a flame graph, ...

The table imports nothing, so that help is quick. A format's file has `write(database, path)`, which writes the whole
file at `path`, and raises NotComparable where the database has nothing that the format could show. It reads only
databases.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # what it is and who reads it, for --help and docs/export.md
    extension: str  # of files, from the dot on
    file: str  # that writes it: sub-room and module
    mark: bytes = b""  # first bytes of each file that we write in a binary format, by which it is known again
    needs_other: bool = False  # whether it compares one profile with another: `write` then takes that as well


PERFETTO_MARK = b"\n\x04P\x01h\x01"  # a packet that begins a sequence
GZIP_MARK = b"\x1f\x8b\x08\x10\0\0\0\0\x02\xffgpuprof\0"  # a header of gzip with a comment

FORMATS = {
    "folded": Entry("folded stacks, for flamegraph.pl, inferno and speedscope", ".folded", "paths.folded"),
    "pprof": Entry("cost by call path and stall reason, for pprof", ".pb.gz", "paths.pprof", GZIP_MARK),
    "speedscope": Entry("cost by call path, for speedscope", ".speedscope.json", "paths.speedscope"),
    "callgrind": Entry("cost by line, and of calls, for KCachegrind", ".callgrind", "paths.callgrind"),
    "firefox": Entry("cost by call path, for Firefox Profiler", ".firefox.json", "paths.firefox"),
    "hatchet": Entry("cost by call path, for Hatchet", ".hatchet.json", "paths.hatchet"),
    "flame": Entry("a flame graph, as a picture", ".flame.svg", "paths.flame"),
    "flame-difference": Entry(
        "a flame graph compared with another recording's (`--against`), as a picture",
        ".difference.svg",
        "paths.flame_difference",
        needs_other=True,
    ),
    "perfetto": Entry(
        "tasks over time, with counters and flows of data, for Perfetto",
        ".pftrace",
        "timeline.perfetto",
        PERFETTO_MARK,
    ),
    "chrome": Entry("tasks over time, for chrome://tracing and Perfetto", ".trace.json", "timeline.chrome"),
    "ncu-source": Entry("lines, as Nsight Compute's source page", ".source.csv", "tables.ncu_source"),
    "ncu-details": Entry("launches, as Nsight Compute's details page", ".details.csv", "tables.ncu_details"),
    "ncu-raw": Entry("launches, as Nsight Compute's raw page", ".raw.csv", "tables.ncu_raw"),
    "nsys-cuda-gpu-kern-sum": Entry(
        "time by kernel, as `nsys stats --report cuda_gpu_kern_sum`", ".cuda_gpu_kern_sum.csv", "tables.nsys_kern_sum"
    ),
    "nsys-cuda-gpu-mem-time-sum": Entry(
        "time of copies and fills, as `nsys stats --report cuda_gpu_mem_time_sum`",
        ".cuda_gpu_mem_time_sum.csv",
        "tables.nsys_mem_time_sum",
    ),
    "nsys-cuda-gpu-mem-size-sum": Entry(
        "bytes of copies and fills, as `nsys stats --report cuda_gpu_mem_size_sum`",
        ".cuda_gpu_mem_size_sum.csv",
        "tables.nsys_mem_size_sum",
    ),
    "nsys-cuda-api-sum": Entry(
        "the host's time by function, as `nsys stats --report cuda_api_sum`", ".cuda_api_sum.csv", "tables.nsys_api_sum"
    ),
    "nsys-cuda-gpu-trace": Entry(
        "each kernel, copy and fill, as `nsys stats --report cuda_gpu_trace`",
        ".cuda_gpu_trace.csv",
        "tables.nsys_gpu_trace",
    ),
    "nsys-cuda-kern-exec-trace": Entry(
        "each kernel with its call, as `nsys stats --report cuda_kern_exec_trace`",
        ".cuda_kern_exec_trace.csv",
        "tables.nsys_kern_exec_trace",
    ),
    "openmetrics": Entry("exact metrics of launches, for Prometheus", ".openmetrics", "tables.openmetrics"),
    "markdown": Entry("kernels and their hottest lines, for a comment", ".md", "tables.markdown"),
    "comparison": Entry(
        "two profiles side by side (`--against`), as Markdown",
        ".comparison.md",
        "tables.comparison_markdown",
        needs_other=True,
    ),
    "cfg-dot": Entry("control-flow graph of `--trace graph`, for Graphviz", ".dot", "graph.cfg_dot"),
    "cfg-svg": Entry("control-flow graph of `--trace graph`, as a picture", ".cfg.svg", "graph.cfg_svg"),
    "dot": Entry("graph of tasks and their relations, for Graphviz", ".relations.dot", "graph.relations_dot"),
    "csv": Entry("relations between tasks, a row each", ".relations.csv", "tables.relations_csv"),
}
