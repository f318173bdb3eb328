"""A run's numbers as plain values, read from its database.

NAME.gpudb ─ read_profile ─> Profile: launches with their metrics, findings
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuprof.base.compared_results import ADVICE
from gpuprof.base.wording import extent_of, suggestion
from gpuprof.check.facts import places
from gpuprof.correlate.database import reading
from gpuprof.correlate.findings import read_findings
from gpuprof.correlate.launch_names import launch_keys
from gpuprof.correlate.metrics import BY_NAME, launch_values
from gpuprof.errors import UsageError
from gpuprof.isa.printing.printable import printable

# Metrics of a launch that do not add up over launches: the largest counts.
LARGEST = ("registers", "shared_nbytes", "local_nbytes")


@dataclass(frozen=True)
class Measured:
    """`metrics`: by name of `gpuprof list metrics`, exact. Each is an attribute, too: `cycles`, `registers`."""

    metrics: Mapping[str, int]

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name == "metrics":  # what copies and debuggers ask of an object that is not whole
            raise AttributeError(name)
        if name in self.metrics:
            return self.metrics[name]
        if name in BY_NAME:
            raise AttributeError(f"{name} was not measured")
        near = suggestion(name, BY_NAME) or "`gpuprof list metrics` has the metrics"
        raise AttributeError(f"{name!r} is not a metric; {near}")


@dataclass(frozen=True)
class LaunchOfRun(Measured):
    """A launch. `title`: "scan<<<64, 256>>>", and which of those of this shape."""

    title: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True)
class KernelOfRun(Measured):
    """All launches of a kernel. Metrics are their sums; of registers and bytes of memory per thread or block, the
    largest.
    """

    name: str
    launches: tuple[LaunchOfRun, ...]


@dataclass(frozen=True)
class FindingOfRun:
    """`place`: "scan.cu:12", or "" where no line is known; `count`: how often it was found."""

    kind: str
    severity: str
    text: str
    place: str
    launch: LaunchOfRun
    count: int


@dataclass(frozen=True)
class Profile:
    """`findings` are of checkers and other trace generators: errors, warnings and notes; `advice` is about speed."""

    launches: tuple[LaunchOfRun, ...]
    findings: tuple[FindingOfRun, ...]
    advice: tuple[FindingOfRun, ...]

    def kernel(self, name: str) -> KernelOfRun:
        """All launches of `name`; those of a template are all of its instances, unless one is named with its arguments.

        Raises UsageError for a kernel that was not launched.
        """
        launches = tuple(launch for launch in self.launches if name in (launch.kernel, launch.kernel.partition("<")[0]))
        if not launches:
            names = list(dict.fromkeys(launch.kernel for launch in self.launches))
            near = suggestion(name, names) or f"the run has {', '.join(names)}"
            raise UsageError(f"{name!r} was not launched; {near}")
        return KernelOfRun(sums(launches), name, launches)


def sums(launches: Iterable[LaunchOfRun]) -> dict[str, int]:
    """The metrics of launches, added up; the largest value of those that do not add up."""
    total: dict[str, int] = {}
    for launch in launches:
        for name, value in launch.metrics.items():
            before = total.get(name, 0)
            total[name] = max(before, value) if name in LARGEST else before + value
    return total


def read_profile(path: Path) -> Profile:
    """Raises FileFormatError or UsageError for a file that cannot be read."""
    with reading(path) as database:
        values = launch_values(database)
        extents = {
            launch: (kernel, extent_of(grid), extent_of(block))
            for launch, kernel, grid, block in database.execute("SELECT launch, kernel, grid, block FROM launches")
        }
        launches = {
            launch: LaunchOfRun(values[launch], str(key), *extents[launch]) for launch, key, *_ in launch_keys(database)
        }
        place_of = places(database)
        found = [
            FindingOfRun(
                each.kind,
                each.severity,
                printable(each.text),
                "{}:{}".format(*place_of[each.pc]) if each.pc in place_of else "",
                launches[each.launch],
                each.count,
            )
            for each in read_findings(database, launches.keys())
        ]
    advice = tuple(each for each in found if each.severity == ADVICE)
    return Profile(tuple(launches.values()), tuple(each for each in found if each.severity != ADVICE), advice)
