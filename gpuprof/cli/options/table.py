"""The options that several commands have, and those that set up a run, in the order of the recorded command line.

Types and defaults that other rooms declare, too, are plain values here, so that help is quick; tests compare them.
"""

import click

from gpuprof.base.cache_control import MOST_REPEATS, STATES
from gpuprof.base.compared_results import MOST_SHOWN
from gpuprof.base.processes import MOST_THREADS
from gpuprof.cli.options.option import (
    CHECKERS,
    CHIPS,
    COMPILER,
    CONTENTS,
    FILTER,
    LAUNCHES,
    LIST,
    OUTPUT,
    RECORDING,
    RESULTS,
    SELECTION,
    SWITCH,
    TIMES,
    TRANSPORT,
    Option,
)
from gpuprof.cli.options.outputs import SavePath, npy
from gpuprof.cli.options.recorded_line import expectation, file_name, shown_load_base, without_folder
from gpuprof.cli.options.settings import (
    chip_changes,
    filter_words,
    host_name,
    kernel_name_words,
    load_base,
    rules_of,
    samples_form,
    traces_of,
)
from gpuprof.cli.options.value_types import (
    Count,
    Events,
    FilterWord,
    InputPath,
    LoadBase,
    NearChoice,
    Period,
    Size,
    Tolerance,
)

DEFAULT_PERIOD_CYCLES = 256
MOST_PARTITION = (1 << 31) - 1  # a number of 32 bits; the chip says how many it has
WITH_COUNTERS = "wide+counters"
RECORDS = "collect replay"
VOCABULARY = NearChoice(["ncu", "cupti", "intel", "amd"])  # those of isa.vocabularies


NOTHING = "-"  # where a row does not have what the others share


def _rows(*rows: Option, commands: str = "", recorded: str = "", fills: str = "") -> tuple[Option, ...]:
    """The rows with what they share, where they do not say it. `fills`: {} stands for a row's name."""
    shared = {"commands": commands, "recorded": recorded, "fills": fills}

    def whole(row: Option) -> Option:
        values = {name: getattr(row, name) or value.format(row.name) for name, value in shared.items()}
        return row._replace(**{name: "" if value == NOTHING else value for name, value in values.items()})

    return tuple(map(whole, rows))


READING = _rows(
    Option("--kernel", "kernel", "Show only kernels whose name matches this regular expression.",
           metavar="RE", group=SELECTION, commands="report quality"),
    Option("--launch", "launch", "Show only launch N; the first is 0.",
           metavar="N", type=click.IntRange(min=0), group=SELECTION, commands="report quality records"),
    Option("--width", "width", "Columns per line.",
           metavar="N", type=click.IntRange(min=20), usual="the terminal's", group=OUTPUT,
           commands="report quality predict diff vary"),
    Option("--force", "force", "Overwrite a file of another kind.", form=SWITCH, group=OUTPUT,
           commands="compile collect replay merge correlate import report export check diff sweep init"),
    Option("--scheduler", "scheduler", "Run on the workers of a Dask cluster, such as tcp://HOST:8786.",
           metavar="ADDRESS", group=CHIPS, commands="sweep predict"),
)  # fmt: skip

LAUNCHING = _rows(
    Option("--launch", "launches", "A launch. Repeatable.", metavar="'K<<<G, B>>>(...)'", form=LIST,
           usual="FILE's LAUNCH: comments", group=LAUNCHES, commands="collect debug diff sweep vary"),
    Option("--chip", "chip_name", "A chip of `gpuprof list chips`, or a .toml file.", metavar="NAME",
           usual="a100", group=LAUNCHES, commands="collect run debug replay diff vary", fills="chip_name",
           shown=file_name),
    Option("--host", "host_name", "A host of `gpuprof list hosts`, or a .toml file.", metavar="NAME",
           usual="the chip's", group=LAUNCHES, commands="collect run debug replay diff sweep vary", fills="host_name",
           made=host_name, shown=file_name),
    recorded=RECORDS,
)  # fmt: skip

SAMPLER = _rows(
    Option("--period", "period_cycles",
           "Sampling period, 2^5 to 2^31; 0: no samples; auto: the shortest one without losses.",
           metavar="CYCLES", type=Period(0), usual=str(DEFAULT_PERIOD_CYCLES), group=TIMES),
    Option("--trigger", "trigger",
           "Sample at every K-th event of an SM instead of by cycles: see `gpuprof list triggers`.",
           metavar="KIND:K", type=Events(), group=TIMES),
    Option("--mode", "mode",
           "Warps of an SM to sample: a random one, the one in the next slot, all, one of each partition that issued "
           "nothing, or the one that caused the event.",
           type=NearChoice(("random", "round-robin", "all", "stalled", "trigger")),
           usual="random; with --trigger: trigger", group=CONTENTS),
    Option("--seed", "seed", "Seed of random data and random sampling.",
           metavar="N", type=click.IntRange(min=0), usual="0", group=TIMES, commands="collect replay diff"),
    Option("--phase", "phase_cycles", "Offset of the first sample within the period.",
           metavar="CYCLES", type=Count(0), usual="0", group=TIMES),
    Option("--partition", "partition", "Sample only this partition of each SM.",
           metavar="P", type=click.IntRange(0, MOST_PARTITION), usual="all", group=CONTENTS),
    Option("--stall", "stall", "Store every stall reason that holds (vector), or only the first one (index).",
           type=NearChoice(["vector", "index"]), usual="vector", group=CONTENTS),
    Option("--counters", "counters",
           "Counters to record with each sample: issued, eligible, active, pipes, l1, l2, dram. blocks and waves add "
           "exact counters per block, or per block and warp.",
           metavar="NAMES", usual=f"none; with --record {WITH_COUNTERS}: all that are sampled", group=CONTENTS),
    Option("--fifo", "fifo_depth", "Size of each SM's FIFO; further records are dropped.",
           metavar="RECORDS", type=click.IntRange(1, 4096), usual="16", group=TRANSPORT),
    Option("--drain", "drain_cycles", "Cycles the FIFO takes to release one record.",
           metavar="CYCLES", type=Count(1), usual="the chip's", group=TRANSPORT),
    Option("--stream", "stream",
           "Records leave over a port of their own (aux), or as stores of the kernel's SM (lsu). lsu slows the kernel; "
           "reports state by how much.",
           type=NearChoice(["aux", "lsu"]), usual="aux", group=TRANSPORT),
    Option("--buffer", "buffer_nbytes",
           "Size of the event buffer of all SMs, such as 32M; further records are dropped.",
           metavar="BYTES", type=Size(), usual="512M", group=TRANSPORT),
    Option("--poll", "poll_cycles", "Cycles between two readouts of the buffer by the host.",
           metavar="CYCLES", type=Count(1), usual="100 ms", group=TRANSPORT),
    commands=RECORDS, recorded=RECORDS, fills="sampling.{}",
)  # fmt: skip

# Each gives words of the one filter that they fill.
FILTERS = _rows(
    Option("--filter", "filter_words",
           "Take only samples that match all filters: sm=0-3,7, block=0-63, warp=0, launch=2, stream=1, task=RE, "
           "cycles=1000-2000, launch-cycles=0-4095; off takes none. Repeatable. Exact numbers always cover the whole "
           "run.",
           metavar="KEY=VALUE", type=FilterWord(), form=LIST, group=FILTER, made=list),
    Option("--draw", "draw", "Sample only shaders of these draws, as in 3,5-9; the first is 0.",
           metavar="N,A-B", group=FILTER, made=filter_words("draw")),
    Option("--stage", "stage", "Sample only shaders of these stages, as in vertex,pixel.",
           metavar="NAMES", group=FILTER, made=filter_words("stage")),
    Option("--kernel-name", "kernel_name",
           "Sample only kernels of this name, or regex:RE, as in ncu. In whole programs, launches that this and the "
           "next two exclude are emulated but not timed.",
           metavar="NAME", group=FILTER, made=kernel_name_words),
    Option("--launch-skip", "launch_skip", "Skip the first N launches that pass the other filters.",
           metavar="N", type=click.IntRange(min=0), group=FILTER, made=filter_words("skip")),
    Option("--launch-count", "launch_count", "Sample at most N launches that pass the other filters.",
           metavar="N", type=click.IntRange(min=1), group=FILTER, made=filter_words("count")),
    commands=RECORDS, recorded=RECORDS, fills="sampling.filter",
)  # fmt: skip

RUN = _rows(
    Option("--record", "record",
           f"Bytes per sample: wide 32, compact 8. {WITH_COUNTERS} adds a counter record for each SM and sampled "
           "cycle.",
           type=NearChoice(("wide", "compact", WITH_COUNTERS)), default="wide", group=CONTENTS, made=samples_form,
           recorded="replay"),
    Option("--cache", "cache",
           "What the caches hold when a launch begins: nothing (cold, as under ncu), what one launch like it leaves "
           "(warm), or what the launches before leave (keep).",
           type=NearChoice(tuple(STATES)),
           usual="cold for --launch and LAUNCH: comments; scripts and programs: keep", group=LAUNCHES,
           commands="collect replay diff sweep vary"),
    Option("--repeat", "repeat", "Time each launch N times; record the last timing, and the cycles of each.",
           metavar="N", type=click.IntRange(1, MOST_REPEATS), usual="1", group=LAUNCHES,
           commands="collect replay diff sweep vary"),
    Option("--max-cycles", "max_cycles",
           "Stop a kernel after N cycles, instead of by its instructions.",
           metavar="N", type=Count(1), usual="no limit", group=LAUNCHES, commands="collect replay diff sweep vary",
           recorded="replay"),
    Option("--max-instructions", "max_instructions", "Stop a kernel once a warp has executed N instructions.",
           metavar="N", type=Count(1, "instructions"), usual="no limit", group=LAUNCHES,
           commands="collect run debug replay diff sweep vary", recorded="replay"),
    Option("--sample-blocks", "sample_blocks",
           "Time blocks of a large launch until its rate settles, and extrapolate the rest.",
           form=SWITCH, group=LAUNCHES, commands="collect diff sweep vary"),
    Option("--threads", "threads",
           "Time each launch on N threads; emulate one that is not timed on N processes. No number depends on it.",
           metavar="N", type=click.IntRange(1, MOST_THREADS), usual="one per core; several processes share the cores",
           group=LAUNCHES, commands="collect run replay relate diff sweep check bisect vary", recorded=NOTHING,
           fills=NOTHING),
    Option("--param", "chip_changes",
           "Change a number of the chip: clock_mhz=1095, l2_mb=20, latency.shared=30. Repeatable.",
           metavar="KEY=V", form=LIST, group=LAUNCHES, made=chip_changes, commands="collect replay diff"),
    Option("--passes", "passes", "Run N passes with different seeds and phases, and add up their samples.",
           metavar="N", type=click.IntRange(min=1), group=RECORDING, fills=NOTHING),
    Option("--load-base", "load_base", "Load the code at this address, or at random ones, drawn by --seed.",
           metavar="ADDRESS", type=LoadBase(), group=LAUNCHES, made=load_base, shown=shown_load_base),
    Option("--trace", "traces",
           "Attach a trace generator: a name of `gpuprof list traces`, or FILE.py:CLASS. Repeatable.",
           metavar="NAME[:K=V,...]", form=LIST, group=RECORDING, commands="collect replay run diff", made=traces_of,
           shown=without_folder),
    Option("--no-accesses", "no_accesses", "Do not record which bytes each launch and copy reads and writes.",
           form=SWITCH, group=RECORDING, fills="observe", made=lambda _: False),
    Option("--rules", "rules", "A TOML file of rules that group launches and copies into virtual tasks.",
           metavar="FILE", type=InputPath(), group=RECORDING, made=rules_of, shown=file_name),
    Option("--no-profile-from-start", "waits_for_start",
           "In whole programs, emulate but do not time launches before cudaProfilerStart.",
           form=SWITCH, group=FILTER, commands="collect", fills="profiles_from_start", made=lambda _: False),
    Option("--save-stream", "save_stream", "Save the command stream with its data, for `gpuprof replay`.",
           form=SWITCH, group=RECORDING, commands="collect", recorded=NOTHING),
    commands=RECORDS, recorded=RECORDS, fills="{}",
)  # fmt: skip

COMPARING = _rows(
    Option("--expect", "expected",
           "Compare an array with a .npy file, a number, zeros, ones or arange after the last launch; K#2.NAME=REF: "
           "after the second launch of K. Repeatable.",
           metavar="NAME=REF", form=LIST, group=RESULTS, shown=expectation),
    Option("--rtol", "rtol", "Relative tolerance of comparisons.", metavar="X", type=Tolerance(),
           usual="f64 1e-9, f32 1e-5, f16 2e-3, bf16 2e-2, integers 0", group=RESULTS, shown="{:g}".format),
    Option("--atol", "atol", "Absolute tolerance of comparisons.", metavar="X", type=Tolerance(),
           usual="0", group=RESULTS, shown="{:g}".format),
    Option("--save", "saved",
           "Save an array after the last launch, or K#2.NAME after the second launch of K. Repeatable.",
           metavar="NAME=OUT.npy", type=SavePath(npy), form=LIST, group=RESULTS, commands="collect", recorded=NOTHING),
    commands="collect sweep", recorded=RECORDS,
)  # fmt: skip

CHECKING = _rows(
    Option("--error-exitcode", "error_exitcode", "Exit with N when a checker has found errors.",
           metavar="N", type=click.IntRange(0, 255), default=0, group=CHECKERS),
    Option("--limit", "limit", "Print at most N errors of checkers. All are counted.",
           metavar="N", type=click.IntRange(0), default=MOST_SHOWN, group=CHECKERS),
    Option("--suppressions", "suppressions",
           "A file of known findings: KIND:PATH:LINE REASON, or KIND:kernel:NAME REASON.",
           metavar="FILE", type=InputPath(), group=CHECKERS),
    commands="collect replay run",
)  # fmt: skip

COMPILING = _rows(
    Option("--max-registers", "max_registers", "Largest number of registers per thread; other values are spilled.",
           metavar="N", type=click.IntRange(min=16), group=COMPILER, commands="compile collect debug diff vary"),
    Option("--compiler", "compiler", "clang (installed with gpuprof), nvcc, or the path of a clang or nvcc.",
           metavar="NAME", default="clang", group=COMPILER, shown=file_name),
    Option("-O", "optimize", "Optimization level of the compiler.", metavar="0..3", type=click.IntRange(0, 3),
           default=3, group=COMPILER, commands="compile collect run diff sweep vary"),
    Option("-O", "optimize", "Debug the code that `collect` runs, in which some variables are optimized out.",
           metavar="0..3", type=click.IntRange(0, 3), group=COMPILER, commands="debug",
           usual="code for a debugger, with all variables, as by nvcc -G"),
    Option("--use_fast_math", "fast_math",
           "Approximate functions, divisions and roots of floats, and flush subnormal ones to zero, as by nvcc.",
           form=SWITCH, group=COMPILER, commands="compile collect run debug diff sweep vary"),
    Option("--std", "standard", "The C++ standard, such as c++17.",
           metavar="NAME", usual="c++20; whole programs: c++17; nvcc: its own", group=COMPILER,
           commands="compile collect debug diff sweep vary"),
    Option("--std", "standard", "The C++ standard of host and device code, such as c++20.", metavar="NAME",
           usual="c++17", group=COMPILER, commands="run"),
    Option("--rdc", "links_device", "Link device code across the sources of a program, as `nvcc -rdc=true` does.",
           form=SWITCH, group=COMPILER, commands="collect run debug diff sweep vary"),
    Option("--host-compiler", "host_compiler",
           "Whose C and C++ libraries and linker a program gets: auto (g++ or clang++, else zig), zig (gpuprof's own, "
           "alike on all machines), or the path of a g++ or clang++.",
           metavar="NAME", usual="auto", group=COMPILER, commands="collect run debug diff sweep vary", shown=file_name),
    Option("-l", "libraries", "Link a program with this library. Repeatable.",
           metavar="NAME", form=LIST, group=COMPILER, commands="collect run debug diff sweep vary"),
    Option("-L", "library_dirs", "Search this folder for libraries. Repeatable.",
           metavar="DIR", form=LIST, group=COMPILER, commands="collect run debug diff sweep vary", recorded=NOTHING),
    Option("--cccl", "cccl", "The release of Thrust, CUB and libcu++.",
           metavar="12|13", usual="the newest that is installed", group=COMPILER),
    Option("--config", "triton_config", "Launch a script's Triton kernels with this Config.", metavar="NAME=V,...",
           group=COMPILER, commands="collect"),
    Option("-D", "defines", "Define a macro. Repeatable.", metavar="NAME=VALUE", form=LIST, group=COMPILER),
    Option("-I", "include_dirs", "Search this folder for headers, and for the sources of a .ptx file. Repeatable.",
           metavar="DIR", form=LIST, group=COMPILER, recorded=NOTHING),
    commands="compile collect run debug diff sweep vary", recorded=RECORDS, fills="options.{}",
)  # fmt: skip

OPTIONS = (*READING, *LAUNCHING, *SAMPLER, *FILTERS, *RUN, *COMPARING, *CHECKING, *COMPILING)
