"""Collects runs for a test, or for any other script: files in a child process, Python's kernels in this one.

from gpuprof.testing.collector import Collector

collector = Collector(Path("build"))
run = collector.collect("scan.cu", launch="scan<<<4, 256>>>(x: f32[1024]=random)", chip="h100")
assert run.kernel("scan").registers <= 32
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuprof.errors import UsageError
from gpuprof.testing.child import error_of, run_gpuprof
from gpuprof.testing.collect_flags import check_flags, flag_words
from gpuprof.testing.run import Collection, Run

if TYPE_CHECKING:
    import numpy as np


class Collector:
    """`scratch`: the folder of its recordings. `folders`: where files are looked for; the command runs in the first
    that has the file, so that other relative paths among the flags start there, too. `defaults`: flags of every run;
    `overrides`: flags that go before those of a call. `command`: how a recording names runs in this process.
    """

    def __init__(
        self,
        scratch: Path,
        folders: Sequence[Path] = (Path(),),
        *,
        defaults: Mapping[str, Any] | None = None,
        overrides: Mapping[str, Any] | None = None,
        command: str = "",
    ):
        check_flags(defaults or {}, "defaults")
        self.scratch, self.folders = scratch.absolute(), [folder.absolute() for folder in folders]
        self.defaults, self.overrides, self.command = dict(defaults or {}), dict(overrides or {}), command
        self.runs: list[Run] = []  # in the order they ran
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"Collector({str(self.scratch)!r})"

    def collect(self, file: str | Path, *, save: str | Sequence[str] = (), **flags: Any) -> Run:
        """Runs launches of a .cu, .ptx or .gpubin file; the keywords are flags of `gpuprof collect`.

        `save`: names of arrays for `Run.array`. Raises the error of gpuprof.
        """
        return self._keep(self._collected(str(file), (), (), flags, saved=_listed(save), exit_code=0))

    def program(
        self,
        file: str | Path | Sequence[str | Path],
        arguments: Sequence[Any] = (),
        *,
        exit_code: int | None = 0,
        **flags: Any,
    ) -> Run:
        """Runs a whole CUDA program, of one or several sources, or a script of Python.

        `exit_code`: the one that is expected; None takes any. Raises the error of gpuprof, also for another code.
        """
        first, *others = map(str, [file] if isinstance(file, str | Path) else file)
        return self._keep(self._collected(first, others, [str(each) for each in arguments], flags, exit_code=exit_code))

    def triton(self, kernel: Any, grid: Any, /, *arguments: Any, **meta: Any) -> Run:
        """Launches a kernel of Triton in this process: `kernel[grid](*arguments, **meta)`."""
        with self.recording(interop="triton") as run:
            kernel[grid](*arguments, **meta)
        return run

    def numba(self, kernel: Any, grid: Any, block: Any, /, *arguments: Any) -> Run:
        """Launches a kernel of numba.cuda in this process: `kernel[grid, block](*arguments)`."""
        with self.recording(interop="numba") as run:
            kernel[grid, block](*arguments)
        return run

    @contextmanager
    def recording(self, *, interop: str | Sequence[str] = (), **flags: Any) -> Generator[Run]:
        """Records what the block launches in this process: on `run.device`, and with `interop="triton"` or "numba" the
        kernels of these. The run has its numbers after the block.

        The flags are some of those of `gpuprof collect`. Raises UsageError for others.
        """
        from gpuprof.testing.in_process import recorded

        run = Run(self.place("recording"))
        with recorded(run.recording, self._all(flags), self.command, _listed(interop)) as run.device:
            yield run
        self._keep(run)

    def _collected(
        self,
        file: str,
        others: Sequence[str],
        arguments: Sequence[str],
        flags: Mapping[str, Any],
        *,
        exit_code: int | None,
        saved: Sequence[str] = (),
    ) -> Run:
        words = flag_words(self._all(flags))
        folder = self._folder_of(file)
        collection = Collection(
            file, ("collect", file, *others, *words, *(["--", *arguments] if arguments else [])), folder
        )
        return run_collection(collection, self.place(Path(file).stem), exit_code=exit_code, saved=saved)

    def _keep(self, run: Run) -> Run:
        """Writes the run's database, once its recording is whole."""
        write_database(run)
        self.runs.append(run)
        return run

    def _all(self, flags: Mapping[str, Any]) -> dict[str, Any]:
        return self.defaults | dict(flags) | self.overrides

    def _folder_of(self, file: str) -> Path:
        """Raises UsageError when no folder has the file."""
        for folder in self.folders:
            if (folder / file).exists():
                return folder
        raise UsageError(f"{file}: there is no such file in {' or '.join(map(str, dict.fromkeys(self.folders)))}")

    def place(self, name: str) -> Path:
        """The name of a new recording, in a folder of its own."""
        folder = self.scratch / f"run{next(self._numbers)}"
        folder.mkdir(parents=True)
        return folder / f"{name}.gprec"


def run_collection(
    collection: Collection, recording: Path, *, exit_code: int | None = 0, saved: Sequence[str] = ()
) -> Run:
    """Collects in a child process. Raises the error of gpuprof, also for a program that ends with another code."""
    words = ["--quiet", f"--output={recording}"]
    words += [f"--save={name}={_file_of(recording, name)}" for name in saved]
    command, *arguments = collection.arguments
    ended = run_gpuprof([command, *words, *arguments], collection.folder)
    code = ended.program_code
    if code is None or (exit_code is not None and code != exit_code):
        raise _error(ended, exit_code, collection)

    def array(name: str) -> "np.ndarray":
        import numpy as np

        path = _file_of(recording, name)
        if not path.exists():
            again = path.parent / f"again{len(list(path.parent.glob('again*')))}.gprec"
            run_collection(collection, again, exit_code=exit_code, saved=[name])
            _file_of(again, name).rename(path)
        return np.load(path)

    return Run(recording, collection=collection, output=ended.output, exit_code=code, array=array)


def write_database(run: Run) -> None:
    from gpuprof.correlate.correlate import correlate

    correlate(run.recording, run.database)


def _error(ended, exit_code: int | None, collection: Collection) -> Exception:
    error = error_of(ended, collection.arguments, collection.folder)
    if ended.code == 0 and exit_code:
        error.args = (f"the program ended with exit code 0, and exit code {exit_code} was expected",)
    return error


def _file_of(recording: Path, name: str) -> Path:
    return recording.with_name(f"{recording.stem}-{name}.npy")


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names
