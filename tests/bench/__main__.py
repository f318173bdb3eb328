"""`make bench`: measures the figures of docs/speed.md. Prints a table and writes build/bench.json.

`python -m tests.bench predict time` measures these groups again, and leaves the other figures as they are.
`python -m tests.bench --against REV` compares with another commit instead: see pair.py.

Every figure is the median of several runs. Rates are per second of wall-clock time on this machine, one core each.
Each group runs in a process of its own: the largest size of a process, as Linux counts it, begins with the size of the
process that started it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import checks, pair
from tests.paths import ROOT

GPUPROF = [sys.executable, "-m", "gpuprof"]
REPEATS = 5


def _run(*args: str, cwd: Path, **environment: str) -> float:
    """Seconds of one gpuprof command. Python keeps the bytecode of its modules, as it does where nobody has told it not
    to.
    """
    environment = os.environ | environment
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run([*GPUPROF, *args], cwd=cwd, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def _median(measure, repeats: int = REPEATS) -> float:
    return statistics.median(measure() for _ in range(repeats))


def cli_figures(folder: Path):
    """`first` has empty caches: the kernel is compiled, and of gpuprof's own code what was not shipped. `build` is the
    part of a wheel that its platform needs, for one processor.
    """
    saxpy = str(ROOT / "samples" / "saxpy.cu")
    _run("collect", saxpy, cwd=folder)
    with tempfile.TemporaryDirectory() as empty:
        yield (
            "cli.first",
            _run("collect", saxpy, cwd=folder, XDG_CACHE_HOME=empty, NUMBA_CACHE_DIR=empty + "/numba"),
            "s",
            "gpuprof collect samples/saxpy.cu, empty caches",
        )
    with tempfile.TemporaryDirectory() as empty:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gpuprof.jit.build", empty], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        nbytes = sum(path.stat().st_size for path in Path(empty).iterdir())
    yield "cli.build", seconds, "s", "python -m gpuprof.jit.build: what a checkout compiles once"
    yield "cli.build.size", nbytes / (1 << 20), "MiB", "the files that it writes"
    yield "cli.warm", _median(lambda: _run("collect", saxpy, cwd=folder)), "s", "gpuprof collect samples/saxpy.cu"
    yield "cli.help", _median(lambda: _run("--help", cwd=folder)), "s", "gpuprof --help"


def assemble_figures(folder: Path):
    from gpuprof.assemble.assemble import assemble_program
    from tests.bench.assembling import changed_seconds
    from tests.bench.large_ptx import long_kernel, many_kernels

    def seconds(module) -> float:
        start = time.perf_counter()
        assemble_program(module)
        return time.perf_counter() - start

    large, kernel = many_kernels(50_000), long_kernel(5_000)
    lines = large.ptx.count("\n")
    yield (
        "assemble.large",
        _median(lambda: seconds(large)),
        "s",
        f"PTX of {lines:,} lines, tests/bench/large_ptx.py, to a program",
    )
    yield (
        "assemble.kernel",
        _median(lambda: seconds(kernel)),
        "s",
        "one kernel of 5,000 instructions, tests/bench/large_ptx.py, to a program",
    )
    yield (
        "assemble.changed",
        statistics.median(changed_seconds(folder, 50_000, REPEATS)),
        "s",
        f"PTX of {lines:,} lines, one kernel of which has changed, to a program and its ELF image",
    )
    command = [sys.executable, "-m", "tests.bench.assembling", "1200000"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    huge, peak = map(float, text.split())
    yield "assemble.huge", huge, "s", "PTX of 1,200,000 lines, tests/bench/large_ptx.py, to a program"
    yield "assemble.huge.peak", round(peak), "MiB", "most memory of the same"


def emulate_figures(_: Path):
    from tests.bench.emulate import emulate_rate

    for kind in ("converged", "divergent", "shuffle", "atomic", "atomic.shared", "tensor"):
        yield (
            f"emulate.{kind}",
            _median(lambda kind=kind: emulate_rate(kind), 3),
            "warp-instructions/s",
            f"tests/bench/emulate.py {kind}",
        )

    from tests.bench.tensor import KERNELS, SIZE, measured

    for kind in KERNELS:
        rate = _median(lambda kind=kind: measured(kind).emulated, 3)
        what = f"tests/bench/tensor.py {kind}, {SIZE} x {SIZE}, of the emulator's thread"
        yield f"emulate.{kind}", rate, "warp-instructions/s", what

    from tests.bench.samples import slowest_sample

    kernel, rate = slowest_sample()
    yield "emulate.slowest", rate, "warp-instructions/s", f"the slowest kernel of samples/: {kernel}"


def trace_figures(_: Path):
    from gpuprof.trace.find import CHECKERS
    from tests.bench import race_shadow
    from tests.bench.checkers import slowest
    from tests.bench.traces import CHECKED, FIGURES, RATES, rate, slowdown

    for name, (kind, blocks, make) in FIGURES.items():
        factor = slowdown(kind, blocks, make)
        yield name, round(factor, 2), "times", f"tests/bench/traces.py {make.__name__}, {kind}: as long as without it"
    for name, (kind, make) in RATES.items():
        what = f"tests/bench/traces.py {make.__name__}, {kind}, of the time that watching adds"
        yield name, rate(kind, make), "warp-instructions/s", what
    for checker in CHECKERS:
        kernel, file, rate_of_slowest = slowest(checker)
        yield f"trace.{checker}.slowest", rate_of_slowest, "warp-instructions/s", f"{kernel} of {file}, checked"
    kernel, file, rate_of_slowest = slowest("undefined")
    what = f"{kernel} of {file}, checked while no byte of memory is defined"
    yield "trace.initcheck.undefined", rate_of_slowest, "warp-instructions/s", what
    for name, files in (("samples", race_shadow.FILES), ("bytes", (race_shadow.BYTE_KERNELS,))):
        kept = race_shadow.largest(files)
        what = f"{kept.kernel}, of the kernels of {files[0].parent.name}: racecheck's memory for a byte that is touched"
        yield f"trace.racecheck.{name}", round(kept.ratio, 2), "bytes", what
    for name, timed in CHECKED.items():
        yield name, timed.rate(), "warp-instructions/s", f"tests/bench/traces.py {timed.kind}, checked, with emulation"


def draw_figures(folder: Path):
    from tests.bench.draws import small_triangles, timed_triangles

    yield "draw.small", _median(small_triangles, 3), "s", "50,000 small triangles, 1024 x 768, tests/bench/draws.py"
    yield "draw.timed", timed_triangles(folder), "CPU s", "the same, timed and sampled on rtx3090, one run"


def relation_figures(folder: Path):
    from tests.bench.relations import million, report_seconds, slowdown

    for kind in ("converged", "memory", "gather"):
        what = f"tests/bench/emulate.py {kind} with a footprint: as long as without"
        yield f"relate.{kind}", round(slowdown(kind), 2), "times", what
    many = million(folder, 1_000_000)
    yield "relate.correlate", many.correlate, "s", "a recording of a million tasks to a database"
    yield "relate.open", many.open, "s", "opening that with all checks"
    yield "relate.load", many.read, "s", "reading the tasks of it once it is open"
    yield "relate.peak", many.memory, "MiB", "most memory of the three together"
    yield "relate.perfetto", many.perfetto, "s", "exporting the same for Perfetto"
    of_recording, of_database = report_seconds(folder, 300_000)
    yield "report.launches", of_recording, "s", "gpuprof report of a recording of 300,000 launches"
    yield "report.database", of_database, "s", "the same of its database"


def counter_figures(_: Path):
    from tests.bench.counters import SAMPLES, share

    for sample in SAMPLES:
        for counters in ("blocks", "waves"):
            what = f"collecting samples/{sample} with --counters {counters}: more than without"
            yield f"counters.{counters}.{sample}", round(100 * share(sample, counters), 1), "%", what


def predict_figures(folder: Path):
    from tests.bench.predict import POINTS, points

    milliseconds, peak = points(folder)
    yield "predict.point", milliseconds, "ms", f"a point of a Pareto front of {POINTS:,} from one launch"
    yield "predict.memory", round(peak), "MiB", "most memory of the same"


def whatif_figures(folder: Path):
    from tests.bench.whatif import figures

    yield from figures(folder)


def program_figures(folder: Path):
    from tests.bench.programs import LINES, build_seconds, costs, many_seconds

    for command in ("run", "collect"):
        found = costs(folder, command)
        what = f"tests/bench/program.cu under {command}"
        yield f"program.{command}.in", found.copy_in, "MB/s", f"{what}: a copy of 256 MiB to the device"
        yield f"program.{command}.out", found.copy_out, "MB/s", f"{what}: a copy of 256 MiB to the host"
        yield f"program.{command}.call", found.call, "us", f"{what}: a call"
        yield f"program.{command}.launch", found.launch, "us", f"{what}: a launch of a kernel that was launched before"
    yield "program.many", many_seconds(folder), "CPU s", "gpuprof collect tests/bench/many_launches.cu: 10,000 launches"
    yield "program.build", build_seconds(folder), "s", f"gpuprof run of a program of {LINES} lines that has changed"


def debug_figures(_: Path):
    from tests.bench.debugger import debugger_figures

    yield from debugger_figures()


def time_figures(_: Path):
    from tests.bench.timing import timing_rate

    for chip in ("a100", "h200"):
        for kind in ("compute", "memory"):
            timing_rate(kind, chip)
            name = f"time.{kind}" if chip == "a100" else f"time.{kind}.{chip}"
            rate = _median(lambda kind=kind, chip=chip: timing_rate(kind, chip), 3)
            yield name, rate, "warp-instructions/s", f"tests/bench/timing.py {kind}, {chip}"

    from tests.bench.tensor import KERNELS, SIZE, measured

    for kind, (chip, _) in KERNELS.items():
        rate = _median(lambda kind=kind: measured(kind).both, 3)
        what = f"tests/bench/tensor.py {kind}, {SIZE} x {SIZE}, {chip}: emulated on one core and timed on another"
        yield f"time.{kind}", rate, "warp-instructions/s", what

    from tests.bench.samples import concurrent

    pairs = [concurrent() for _ in range(3)]
    rate, ratio = (statistics.median(each) for each in zip(*pairs, strict=True))
    yield (
        "time.concurrent",
        rate,
        "warp-instructions/s",
        "naive of samples/matmul.cu, 384 x 384, emulated on one core and timed on another",
    )
    yield "time.overlap", 100 * ratio, "%", "the same run's time, relative to the slower one by itself"


def thread_figures(folder: Path):
    from tests.bench.threads import collect_factor, factor, handout_ns

    for kind in ("compute", "memory"):
        what = f"tests/bench/timing.py {kind}, a100: two threads against one"
        yield f"time.threads.{kind}", factor(kind), "times as fast", what
    yield "time.handout", handout_ns(), "ns", "tests/bench/threads.py: a quantum handed out to two threads"
    what = "gpuprof collect samples/matmul.cu, naive, 384 x 384: two threads against one"
    yield "collect.threads", collect_factor(folder), "times as fast", what

    from tests.bench.processes import KERNELS, factor as processes_factor, in_vain_factor, run_factor

    for kind in KERNELS:
        what = f"tests/bench/emulate.py {kind}, without a trace: two processes against one"
        yield f"emulate.processes.{kind}", processes_factor(kind), "times as fast", what
    what = "converged: one process against two, of which one is of no use"
    yield "emulate.processes.in_vain", in_vain_factor(), "times as fast", what
    what = "gpuprof run tests/program/sources/spread.cu: two processes against one"
    yield "run.processes", run_factor(folder), "times as fast", what


def sample_figures(folder: Path):
    """Collecting with the sampler at its finest period against collecting without it: time, and simulated cycles."""
    matmul = str(ROOT / "samples" / "matmul.cu")

    def collect(period: int) -> float:
        return _run("collect", matmul, "--period", str(period), "-o", f"p{period}.gprec", cwd=folder)

    for period in (0, 256):
        collect(period)
    pairs = [(collect(256), collect(0)) for _ in range(REPEATS)]
    overhead = statistics.median(on / off - 1 for on, off in pairs)
    yield (
        "sample.time",
        round(100 * overhead, 2),
        "%",
        "gpuprof collect samples/matmul.cu --period 256, against --period 0",
    )
    cycles = [_total_cycles(folder / f"p{period}.gprec") for period in (256, 0)]
    yield "sample.cycles", cycles[0] - cycles[1], "cycles", "simulated cycles of the same two runs, on minus off"


# A compute-bound and a memory-bound launch, each long enough that collecting is mostly emulating and timing.
COSTS = {
    "compute": (
        "matmul.cu",
        "naive<<<(24, 24), (16, 16)>>>(a: f32[384,384]=random, b: f32[384,384]=random, c: f32[384,384], 384)",
    ),
    "memory": ("saxpy.cu", "saxpy<<<4096, 256>>>(1048576, 2.0, x: f32[1048576]=random, y: f32[1048576]=random)"),
}
SAMPLINGS = {"1024": ("--period", "1024"), "all.32": ("--period", "32", "--mode", "all")}


def sampling_cost_figures(folder: Path):
    """Collecting with samples against collecting without: pairs of runs, one after the other, since the machine is
    others' too.
    """
    for kind, (file, launch) in COSTS.items():
        command = ("collect", str(ROOT / "samples" / file), "--launch", launch, "-o", "cost.gprec")
        _run(*command, "--period", "0", cwd=folder)
        for name, flags in SAMPLINGS.items():
            ratios = [
                _run(*command, *flags, cwd=folder) / _run(*command, "--period", "0", cwd=folder) for _ in range(REPEATS)
            ]
            overhead = round(100 * (statistics.median(ratios) - 1), 2)
            yield (
                f"sample.{kind}.{name}",
                overhead,
                "%",
                f"collect samples/{file}, {' '.join(flags)}, against --period 0",
            )


def record_figures(_: Path):
    """In a process of its own for each form, whose memory is that of only writing and correlating."""
    for record in ("wide", "compact"):
        command = [sys.executable, "-m", "tests.bench.records", "10000000", record]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        rate, seconds, peak = map(float, text.split())
        what = f"ten million {record} records, tests/bench/records.py"
        yield f"records.{record}.write", rate, "MB/s", f"{what}: written"
        yield f"records.{record}.read", seconds, "s", f"{what}: read and correlated"
        yield f"records.{record}.memory", peak, "MiB", f"{what}: most memory"


def _total_cycles(path: Path) -> int:
    from gpuprof.records.reader import read_recording

    return sum(launch.end["cycles"] for launch in read_recording(path).launches.values())


def correlate_figures(folder: Path):
    from gpuprof.correlate.correlate import correlate
    from tests.support.big_recording import write_big_recording

    n_records = 1_000_000
    _run("collect", str(ROOT / "samples" / "matmul.cu"), "--period", "256", "-o", "one.gprec", cwd=folder)
    path = write_big_recording(folder / "big.gprec", folder / "one.gprec", n_records)

    def once() -> float:
        start = time.perf_counter()
        correlate(path, folder / "big.gpudb")
        return n_records / (time.perf_counter() - start)

    yield "correlate.records", _median(once, 3), "records/s", "a million wide records to a database"
    yield (
        "report.million",
        _median(lambda: _run("report", str(path), cwd=folder), 3),
        "s",
        "gpuprof report on a million records",
    )


def product_figures(folder: Path):
    from tests.bench.tensor import PRODUCT, SOURCE, TILE

    size = 2048
    launch = PRODUCT.format(size // TILE, size)
    seconds = _median(lambda: _run("collect", str(SOURCE), "--launch", launch, cwd=folder), 1)
    yield "collect.product", seconds, "s", f"gpuprof collect tests/bench/tensor.cu, a product of {size} x {size} f16"


def memory_figures(folder: Path):
    _run("collect", str(ROOT / "samples" / "matmul.cu"), cwd=folder)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    yield "peak.memory", round(peak / 1024), "MiB", "gpuprof collect samples/matmul.cu: most memory"


def long_figures(_: Path):
    """Kernels whose blocks run long, each in a process of its own: memory must not grow with the run."""
    for kind, millions in (("compute", 20), ("compute", 200), ("memory", 50), ("memory", 200)):
        command = [sys.executable, "-m", "tests.bench.long_run", kind, str(millions)]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        yield (
            f"memory.long.{kind}.{millions}",
            float(text.split()[-2]),
            "MiB",
            f"python -m tests.bench.long_run {kind} {millions}",
        )


def blocks_figures(_: Path):
    """Part of a launch's blocks timed, against all: see tests/bench/blocks.py for more launches."""
    from tests.bench.blocks import run

    for name in ("shuffle", "padded transpose"):
        full, part = run(name, False), run(name, True)
        known, what = part.timing.extrapolation, f"python -m tests.bench.blocks '{name}'"
        figure = f"blocks.{name.partition(' ')[0]}"
        yield (
            f"{figure}.time",
            100 * part.seconds / full.seconds,
            "%",
            f"{what}: time with --sample-blocks, of that without",
        )
        yield (
            f"{figure}.error",
            100 * (part.timing.cycles / full.timing.cycles - 1),
            "%",
            f"{what}: its cycles, against those without",
        )
        yield f"{figure}.stated", 100 * known.error, "%", f"{what}: the error that it states"


GROUPS = {
    "assemble": assemble_figures,
    "emulate": emulate_figures,
    "trace": trace_figures,
    "draw": draw_figures,
    "relate": relation_figures,
    "program": program_figures,
    "debug": debug_figures,
    "time": time_figures,
    "threads": thread_figures,
    "cli": cli_figures,
    "check": checks.figures,
    "sample": sample_figures,
    "correlate": correlate_figures,
    "product": product_figures,
    "peak": memory_figures,
    "long": long_figures,
    "costs": sampling_cost_figures,
    "records": record_figures,
    "blocks": blocks_figures,
    "predict": predict_figures,
    "counters": counter_figures,
    "whatif": whatif_figures,
}
RESULT = ROOT / "build" / "bench.json"


def measure(group: str, folder: Path) -> None:
    """Prints each figure of a group as a line of JSON."""
    for name, value, unit, command in GROUPS[group](folder):
        row = {"group": group, "name": name, "value": float(f"{value:.4g}"), "unit": unit, "command": command}
        print(json.dumps(row), flush=True)


def measured(group: str, folder: Path) -> list[dict]:
    """What `measure` prints in a process of its own."""
    command = [sys.executable, "-m", "tests.bench", "--in", str(folder), group]
    rows = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        for line in started.stdout:
            row = json.loads(line)
            print("{name:20} {value:>14,.10g} {unit:20} {command}".format_map(row), flush=True)
            rows.append(row)
    if started.returncode:
        raise SystemExit(f"the figures of {group!r} could not be measured: exit status {started.returncode}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures the figures of docs/speed.md.")
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], help="what to measure again (default: everything)")
    parser.add_argument("--against", metavar="REV", help="measure this commit, or checkout, too, and print factors")
    parser.add_argument("--rounds", type=int, default=3, help="of --against (default: %(default)s)")
    parser.add_argument(
        "--worst", type=float, metavar="PERCENT", help="with --against: exit with 1 where a figure is worse by more"
    )
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.folder:
        return measure(asked.groups[0], asked.folder)
    if asked.against:
        pairs = pair.compare(asked.groups or list(GROUPS), asked.against, asked.rounds)
        worse = [each.name for each in pairs if asked.worst is not None and each.factor < 1 - asked.worst / 100]
        raise SystemExit(f"worse by more than {asked.worst:g} %: {', '.join(worse)}" if worse else 0)
    kept = json.loads(RESULT.read_text()) if asked.groups else []
    found = {group: [row for row in kept if row["group"] == group] for group in GROUPS}
    with tempfile.TemporaryDirectory() as folder:
        for group in asked.groups or GROUPS:
            found[group] = measured(group, Path(folder))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([row for rows in found.values() for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
