"""The tools, as a table: what an agent reads of each, its parameters, and the words of the command line that they
become. What is not in the table cannot be said: no option names another compiler, a script of a trace generator, a
library, or a file outside of the workspace.
"""

from typing import Any, NamedTuple

from gpuprof.mcp_server.values import (
    PROFILES,
    RECORDING,
    Chip,
    Choice,
    InFolder,
    Kind,
    Source,
    Switch,
    Text,
    Tolerance,
    Whole,
)

MOST_COUNT = 1 << 62  # of cycles and instructions, as the command line has it
MOST_SECONDS = 86_400
DEFAULT_BUDGET_SECONDS = 60
REST = "--"  # the form of words that a program gets as its arguments
LINE = r"[^\0\n\r]+"  # a text of one line


class Parameter(NamedTuple):
    """`text`: for the agent, with the unit. `form`: the word of the command line, {} stands for the value's; a switch
    has none. `default`: what is passed when the call does not say it; None: nothing. `of_programs`: only where programs
    are allowed. `writes`: it names a file that is written.
    """

    name: str
    kind: Kind
    text: str
    form: str = "{}"
    is_list: bool = False
    is_required: bool = False
    default: Any = None
    of_programs: bool = False
    writes: bool = False


class Tool(NamedTuple):
    """A command of gpuprof. `words`: options that every call gives it."""

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    words: tuple[str, ...] = ()

    @property
    def is_read_only(self) -> bool:
        return not any(parameter.writes for parameter in self.parameters)


LAUNCHING = (
    Parameter("launch", Text(LINE, "a launch, such as k<<<64, 256>>>(1000, x: f32[1000]=random)"),
              "Launches to run, such as 'saxpy<<<64, 256>>>(16384, 2.0, x: f32[16384]=random, y: f32[16384])'. Without "
              "any: those of the file's `// LAUNCH:` comments.", "--launch={}", is_list=True),
    Parameter("chip", Chip(), "The chip to model, such as a100 (the default), h100, h200, l4, rtx4090, or a .toml "
              "file.", "--chip={}"),
)  # fmt: skip
COLLECTING = (
    *LAUNCHING,
    Parameter("chip_changes", Text(r"[a-z0-9_.]+=[-+0-9.eE]+", "KEY=NUMBER, such as clock_mhz=1095"),
              "Numbers of the chip to change, such as clock_mhz=1095 or l2_mb=20.", "--param={}", is_list=True),
    Parameter("cache", Choice(("cold", "warm", "keep")), "What the caches hold when a launch begins: nothing (cold, "
              "the default), what one launch like it leaves (warm), what the launches before leave (keep).",
              "--cache={}"),
    Parameter("repeat", Whole(1, 10_000), "Times to time each launch; the last timing counts.", "--repeat={}"),
    Parameter("max_instructions", Whole(1, MOST_COUNT), "Stop a kernel once a warp has executed so many instructions.",
              "--max-instructions={}"),
    Parameter("max_cycles", Whole(1, MOST_COUNT), "Stop a kernel after so many cycles.", "--max-cycles={}"),
    Parameter("sample_blocks", Switch(), "Time blocks of a large launch until its rate settles, and extrapolate the "
              "rest.", "--sample-blocks"),
    Parameter("seed", Whole(0, (1 << 63) - 1), "Seed of random data and of the sampler.", "--seed={}"),
    Parameter("checkers", Choice(("memcheck", "racecheck", "initcheck", "synccheck")),
              "Look for errors that a GPU does not report; the report's page `findings` has them.", "--trace={}",
              is_list=True),
    Parameter("define", Text(r"[A-Za-z_]\w*(=[^\0\n\r]*)?", "NAME or NAME=VALUE"), "Macros, as NAME or NAME=VALUE.",
              "-D{}", is_list=True),
    Parameter("include", InFolder(), "Folders to search for headers, and for the sources of a .ptx file.", "-I{}",
              is_list=True),
    Parameter("std", Text(r"(c|gnu)\+\+[0-9a-z]{2}", "a C++ standard, such as c++17"),
              "The C++ standard, such as c++17. Default: c++20.", "--std={}"),
    Parameter("optimize", Whole(0, 3), "Optimization level of the compiler. Default: 3.", "-O{}"),
    Parameter("max_registers", Whole(16, 255), "Largest number of registers per thread; other values are spilled.",
              "--max-registers={}"),
)  # fmt: skip
KERNEL = Parameter("kernel", Text(LINE, "a regular expression"),
                   "Only kernels whose name matches this regular expression.", "--kernel={}")  # fmt: skip
BUDGET = Parameter("budget_seconds", Whole(1, MOST_SECONDS), "Seconds to spend on measuring. The server's time limit "
                   "holds, too.", "--budget={}", default=DEFAULT_BUDGET_SECONDS)  # fmt: skip

TOOLS = (
    Tool("collect", "Run the launches of a kernel file on the emulated GPU and record a profile. Prints the cycles of "
         "each launch. Give `expect` to check results: a kernel that computes something else fails.", (
        Parameter("file", Source(), "The kernels: a .cu, .ptx or .gpubin file.", is_required=True),
        Parameter("output", InFolder((RECORDING,)), "The recording to write, NAME.gprec; an older one becomes "
                  "NAME.gprec.old.", "--output={}", is_required=True, writes=True),
        *COLLECTING,
        Parameter("expect", Text(LINE, "NAME=REFERENCE, such as y=ones"), "Results to compare after the last launch: "
                  "NAME=REFERENCE, where NAME is an array of a launch, and REFERENCE a number, zeros, ones, arange or "
                  "a .npy file.", "--expect={}", is_list=True),
        Parameter("rtol", Tolerance(), "Relative tolerance of comparisons.", "--rtol={}"),
        Parameter("atol", Tolerance(), "Absolute tolerance of comparisons.", "--atol={}"),
        Parameter("save_stream", Switch(), "Save the command stream, too, so that `whatif` and `advise` need no "
                  "source.", "--save-stream"),
        Parameter("sources", Source(), "More sources of a whole program.", is_list=True, of_programs=True),
        Parameter("arguments", Text(r"[^\0]*", "an argument"), "Arguments of a program or script.", REST,
                  is_list=True, of_programs=True),
    )),
    Tool("report", "Show where the cycles of a profile went: per kernel, source line, PTX line or instruction.", (
        Parameter("file", InFolder(PROFILES), "The profile: a .gprec or .gpudb file.", is_required=True),
        Parameter("page", Choice(("summary", "source", "ptx", "isa", "blame", "stalls", "launches", "api", "findings",
                                  "traces", "tasks", "relations", "timeline", "draws", "samples")),
                  "The page to show. Default: the summary, then the source of the kernel with the most cycles.",
                  "--page={}"),
        KERNEL,
        Parameter("launch", Whole(0, MOST_COUNT), "Only this launch; the first is 0.", "--launch={}"),
        Parameter("source_lines", Text(r"\d+(-\d+)?", "a line or a range of lines, as in 10 or 10-20"),
                  "Only these lines, as in 10-20, with all their instructions.", "--source-lines={}"),
        Parameter("isa", Switch(), "Show the instructions under every line.", "--isa"),
        Parameter("task", Text(LINE, "the name of a task or a buffer"), "Show the relations of this task or buffer.",
                  "--task={}"),
        Parameter("format", Choice(("text", "csv", "json")), "How to print. Default: text.", "--format={}"),
    )),
    Tool("advise", "Say what to change next in a kernel: each piece of advice has its place, its evidence, the gain "
         "that was measured with it, what would refute it, and the command that verifies it.", (
        Parameter("file", Source(PROFILES), "A kernel file, or a recording with its stream.", is_required=True),
        *LAUNCHING,
        BUDGET,
        Parameter("format", Choice(("brief", "json")), "brief: at most 2,400 characters a kernel; json: all of it.",
                  "--{}", default="brief"),
    )),
    Tool("whatif", "Measure what a kernel would gain if one thing were otherwise: accesses that hit, no bank "
         "conflicts, no spills, no barrier waits, a unit twice as fast. Prints JSON: cycles before and after, and the "
         "limit that then holds.", (
        Parameter("file", Source(PROFILES), "A kernel file, or a recording with its stream.", is_required=True),
        *LAUNCHING,
        Parameter("line", Text(r"[^\0\n\r]+:\d+", "FILE:LINE"), "Only interventions at this line, as in blur.cu:12.",
                  "--line={}"),
        Parameter("kernel", Text(LINE, "a regular expression"), "Only kernels whose name it finds.", "--kernel={}"),
        Parameter("only", Text(r"[a-z0-9][a-z0-9_-]*", "a kind of intervention"), "Only interventions of these kinds.",
                  "--only={}", is_list=True),
        Parameter("all", Switch(), "Measure all that costs 1% and more, however long it takes.", "--all"),
        Parameter("greedy", Whole(1, 20), "Apply the best intervention, and look for the next, so many times.",
                  "--greedy={}"),
        BUDGET,
    ), ("--json",)),
    Tool("diff", "Compare two profiles, or two kernel files: which lines wait more or less, for what, and why. Kernel "
         "files are collected first, with the parameters that `collect` has, too.", (
        Parameter("before", Source(PROFILES), "The profile or kernel file before the change.", is_required=True),
        Parameter("after", Source(PROFILES), "The one after it. Without it, two kernels of `before` are compared."),
        KERNEL,
        Parameter("with_kernel", Text(LINE, "a regular expression"), "The kernel to compare `kernel` with.",
                  "--with={}"),
        Parameter("isa", Switch(), "Show every instruction of kernels whose code changed. For text.", "--isa"),
        Parameter("format", Choice(("text", "json", "markdown")), "How to print. Default: text.", "--format={}"),
        *COLLECTING,
    )),
    Tool("check", "Compare a profile with a baseline file, or write the baseline. Exit code 0: within limits; 3: "
         "slower, with the lines to blame; 4: not comparable.", (
        Parameter("file", InFolder(PROFILES), "The profile: a .gprec or .gpudb file.", is_required=True),
        Parameter("baseline", InFolder((".txt", ".toml")), "The baseline, a .txt or .toml file.", "--baseline={}",
                  writes=True),
        Parameter("update", Switch(), "Write the baseline instead of comparing with it.", "--update"),
        Parameter("fail_on", Text(r"[a-z0-9_.]+=[0-9.%|]+", "METRIC=LIMIT, such as cycles=1%"),
                  "Limits of growth, such as cycles=1%, cycles=200 or cycles=1%|200 (both exceeded).", "--fail-on={}",
                  is_list=True),
        Parameter("require", Text(r"[A-Za-z0-9_.-]+<=[-0-9.]+", "WHAT<=NUMBER, such as findings<=0"),
                  "Largest values of what checkers found, such as findings<=0.", "--require={}", is_list=True),
        Parameter("strict_shape", Switch(), "A launch whose grid, block or shared memory changed is another launch.",
                  "--strict-shape"),
        Parameter("diff", Switch(), "Print every metric and every changed line.", "--diff"),
        Parameter("format", Choice(("text", "json", "markdown")), "How to print. Default: text.", "--format={}"),
    )),
)  # fmt: skip
