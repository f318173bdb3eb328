"""Reads host files, which are as those of chips: `inherits = "pcie4"` takes what the file does not say from another."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import HOST
from gpuprof.chips.sourced import Family, similar
from gpuprof.errors import UsageError
from gpuprof.hosts.fields import BY_NAME, FIELDS

FILES = Family("host", Path(__file__).parent, "pcie4", HOST)


@dataclass(frozen=True)
class Host:
    """A host as numbers. Every row of `fields.FIELDS` is an attribute. `sources` says where each comes from."""

    name: str
    values: dict[str, Any]
    sources: dict[str, str]

    def __post_init__(self):
        self.__dict__.update(self.values)

    def __getattr__(self, name: str):
        raise AttributeError(f"a host has no number {name!r}")

    def describe(self) -> dict[str, Any]:
        """Plain numbers, as they go into a record stream."""
        return {"name": self.name, **self.values}


def list_hosts() -> tuple[str, ...]:
    """Names of the hosts that come with gpuprof, in alphabetical order."""
    return FILES.names()


def load_host(name: str | Path) -> Host:
    """A host by name, in any case, or from a file whose name ends in .toml. Raises UsageError naming the file and the
    key that is wrong.
    """
    return _load(FILES.path_of(name))


def host_named(name: str) -> Host:
    """A host that comes with gpuprof. Raises UsageError for any other name, a file's too: a chip's description in a
    recording opens no files.
    """
    return _load(FILES.path_of_name(name))


def described(description: Mapping[str, Any], origin: str) -> Host:
    """The inverse of `Host.describe`. Raises UsageError, with `origin` in front, for what describes no host."""
    name = description.get("name")
    if not isinstance(name, str):
        raise UsageError(f"{origin}: the host has no name")
    if name in list_hosts() and load_host(name).describe() == description:
        return load_host(name)
    data = {key: value for key, value in description.items() if key != "name"}
    _check_keys(origin, data)
    return replace(_build(Path(origin), data), name=name)


def _load(path: Path) -> Host:
    return _build(path, FILES.read(path, _check_keys, lambda path, data, parent: parent | data))


def _check_keys(path: Path | str, data: Mapping[str, Any]) -> None:
    for key in data:
        if key not in BY_NAME and key != "inherits":
            raise UsageError(f"{path}: unknown key {key!r}{similar(key, ['inherits', *BY_NAME])}")


def _build(path: Path, data: Mapping[str, Any]) -> Host:
    sources: dict[str, str] = {}
    values = {field.name: FILES.number(path, field.name, field, data, sources) for field in FIELDS}
    host = Host(path.stem, values, sources)
    _check_together(path, host)
    return host


def _check_together(path: Path, host: Host) -> None:
    """Checks the relations between numbers, which no single number shows."""
    if host.page_nbytes & (host.page_nbytes - 1):
        raise UsageError(f"{path}: page_nbytes is {host.page_nbytes}, which is no power of two")
    if host.host_fault_nbytes < host.page_nbytes:
        raise UsageError(
            f"{path}: host_fault_nbytes is {host.host_fault_nbytes}, less than a page of page_nbytes = "
            f"{host.page_nbytes}"
        )
