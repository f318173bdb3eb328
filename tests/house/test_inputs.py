"""Files of others are opened in one place, `gpuprof.base.inputs`. What else opens a file stands here, with its
reason.
"""

import ast
from collections.abc import Iterator

from tests.house.source_graph import Module, read_package
from tests.paths import ROOT

OPENERS = {
    "open", "fdopen", "load", "fromfile", "memmap", "loadtxt", "genfromtxt", "connect", "read_text", "read_bytes",
    "run_path", "mmap", "load_module", "getline", "getlines", "copyfileobj",
}  # fmt: skip
# calls of the same name that open nothing: of compiled code, of the cache, of a device
OTHERS = {("builder", "load"), ("cache", "load"), ("device", "load"), ("each", "load"), ("cfg", "connect")}

# module: calls in it -> why they open no file of others without `open_input`
ALLOWED = {
    ("gpuprof.base.inputs", "open"): "the door itself",
    ("gpuprof.base.inputs", "os.open"): "the door itself",
    ("gpuprof.base.output_claims", "os.open"): "a lock beside an output; nothing is read",
    ("gpuprof.base.folders", "os.open"): "a cache folder, to ask whose it is",
    ("gpuprof.base.caching.lock", "os.open"): "a lock in a cache folder; nothing is read",
    ("gpuprof.base.outputs", "open"): "the first bytes of a regular file that is to be overwritten",
    ("gpuprof.base.processes", "open"): "/dev/null, for a stream that is closed",
    ("gpuprof.base.processes", "os.open"): "/dev/null, for a stream that is closed",
    ("gpuprof.base.output_targets", "open"): "writes",
    ("gpuprof.base.files", "target.open"): "writes",
    ("gpuprof.device.results.plan", "open"): "writes",
    ("gpuprof.records.chunk_file", "self._target.open"): "writes",
    ("gpuprof.base.files", "open"): "writes, and reads what this command wrote",
    ("gpuprof.base.files", "shutil.copyfileobj"): "reads what this command wrote",
    ("gpuprof.records.chunk_file", "open"): "writes",
    ("gpuprof.run.trace_file.write", "open"): "writes",
    ("gpuprof.run.trace_file.write_sweep", "open"): "writes",
    ("gpuprof.export.paths.folded", "open"): "writes",
    ("gpuprof.export.graph.cfg_dot", "open"): "writes",
    ("gpuprof.export.paths.callgrind", "open"): "writes",
    ("gpuprof.export.timeline.chrome", "open"): "writes",
    ("gpuprof.graphics.png", "open"): "writes",
    ("gpuprof.export.timeline.perfetto", "open"): "writes",
    ("gpuprof.export.graph.relations_dot", "open"): "writes",
    ("gpuprof.export.tables.relations_csv", "open"): "writes",
    ("gpuprof.trace.generators.trace_files.accelsim", "open"): "writes",
    ("gpuprof.sweep.write_table", "open"): "writes",
    ("gpuprof.sweep.write_table", "sqlite3.connect"): "writes a new file",
    ("gpuprof.base.dependencies.opened_files", "os.open"): "appends to the log of this run",
    ("gpuprof.base.dependencies.opened_files", "log.read_bytes"): "the log of a run that this process started",
    ("gpuprof.project.entry_run", "open"): "a temporary file of this process",
    ("gpuprof.testing.collector", "np.load"): "an array that this process had saved",
    ("gpuprof.sweep.run_sweep", "os.open"): "/dev/null, for a worker's output",
    ("gpuprof.sweep.run_sweep", "os.fdopen"): "a pipe to the process that started this worker",
    ("gpuprof.sweep.run_sweep", "pickle.load"): "from the process that started this worker",
    ("gpuprof.run.launching.pending", "pickle.load"): "a temporary file of this process, without a name",
    ("gpuprof.cli.options.check_outputs", "open"): "appends",
    ("gpuprof.cli.main", "os.open"): "/dev/null, for our own output",
    ("gpuprof.cli.list", "path.read_text"): "samples of the source checkout",
    ("gpuprof.chips.fidelity.published_kernels", "PATH.open"): "a table of the package",
    ("gpuprof.chips.fidelity.model_figures", "PATH.open"): "a table of the package",
    ("gpuprof.predict.validated", "FILES[kind].open"): "a table of the package",
    ("gpuprof.jit.sources", "file.read_bytes"): "files of the package",
    ("gpuprof.jit.store", "open"): "machine code in a folder that only this user writes to, or the package's",
    ("gpuprof.jit.build", "path.read_bytes"): "what this command or a run of this user's wrote",
    ("gpuprof.jit.build", "LIST.read_text"): "a file of the package",
    ("gpuprof.report.html.bundle", "path.read_text"): "files of the package",
    ("gpuprof.compile.cache", "path.read_bytes"): "files of the package",
    ("gpuprof.assemble.function_cache", "path.read_bytes"): "files of the package",
    ("gpuprof.base.processes", "QUOTA.read_text"): "the kernel's own file of this process's group",
    ("gpuprof.compile.cuda", "dependencies.read_text"): "a compiler wrote it into our own folder, up to its limit",
    ("gpuprof.compile.nvcc", "dependencies.read_text"): "a compiler wrote it into our own folder, up to its limit",
    ("gpuprof.compile.nvcc", "ptx.read_text"): "a compiler wrote it into our own folder, up to its limit",
    ("gpuprof.correlate.database", "sqlite3.connect"): "behind check_input, or in memory",
    ("gpuprof.correlate.describe", "sqlite3.connect"): "in memory",
    ("gpuprof.correlate.correlate", "sqlite3.connect"): "writes a new file",
    ("gpuprof.importers.fill_database", "sqlite3.connect"): "writes a new file",
    ("gpuprof.program.api_table", "open"): "a table of the package",
    ("gpuprof.program.describe", "path.read_text"): "files of the package",
    ("gpuprof.program.arena", "mmap.mmap"): "a file of this process, without a name",
    ("gpuprof.device.memory", "mmap.mmap"): "anonymous memory, or the file of the program's arena, without a name",
    ("gpuprof.emulate.spread.chunks_left", "mmap.mmap"): "anonymous memory, no file",
    ("gpuprof.emulate.spread.outcomes", "mmap.mmap"): "anonymous memory, and files of this process, without a name",
    ("gpuprof.program.binary", "open"): "a regular file, the executable that is to be run",
    ("gpuprof.program.binary", "path.read_bytes"): "files of the package",
    ("gpuprof.program.line_table", "path.read_bytes"): "the executable that is running",
    ("gpuprof.program.build", "path.read_bytes"): "files of the package, and objects that we have just built",
    ("gpuprof.program.build", "new.read_bytes"): "reads what this command wrote",
    ("gpuprof.program.build", "listed.read_text"): "in a cache folder that only this user writes to",
    ("gpuprof.program.build", "dependencies.read_text"): "a compiler wrote it into our own folder, up to its limit",
    ("gpuprof.trace.find", "entry.load"): "a package that the user has installed",
    (
        "gpuprof.run.script",
        "runpy.run_path",
    ): "the user's own script; `collect` takes regular files alone",
}


def openings(module: Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module.tree):
        # To write a node as text takes long: few names end as an opener's.
        called = isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called not in OPENERS:
            continue
        name = ast.unparse(node.func)
        receiver, _, last = name.rpartition(".")
        is_opener = last in OPENERS and (receiver or last == "open")
        if is_opener and (receiver, last) not in OTHERS:
            yield module.name, name


def test_files_of_others_come_in_by_one_door():
    found = {each for module in read_package(ROOT / "gpuprof").values() for each in openings(module)}
    assert sorted(found - ALLOWED.keys()) == [], "open it with gpuprof.base.inputs, or say here why not"
    assert sorted(ALLOWED.keys() - found) == [], "there is no such call any more"


def test_what_opens_a_file_is_found():
    text = (
        "import numpy as np, sqlite3\n"
        "def f(path):\n"
        "    with open(path) as file: pass\n"
        "    path.read_text(); path.open(); np.load(path); sqlite3.connect(path)\n"
        "    read_text(path); device.load(path); module.functions()\n"
    )
    module = Module("m", ROOT, ast.parse(text))
    assert sorted(name for _, name in openings(module)) == [
        "np.load", "open", "path.open", "path.read_text", "sqlite3.connect",
    ]  # fmt: skip
