"""Names, as one value, all that the traces of a sweep's launches depend on: runs with the same can use each other's."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

from gpuprof.base.wording import installed_version
from gpuprof.chips import Chip
from gpuprof.device.kernels import find_kernel
from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.load_map import FIRST_LOAD_BASE
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.chip_numbers import EVERY, chip_numbers
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.opcodes import ISA_VERSION
from gpuprof.run.trace_file.layout import SweptProgram, Versions
from gpuprof.timing.state.model_version import MODEL_VERSION


def versions_here() -> Versions:
    return Versions(installed_version(), MODEL_VERSION, ISA_VERSION)


def chip_names(image: bytes, requests: Sequence[LaunchRequest]) -> frozenset[str]:
    """The numbers of a chip on which the traces of launches depend. image: of the gpubin that has their kernels. Raises
    UsageError for a kernel that it has not.
    """
    program = read_gpubin(image, "the kernels")
    module = load(program, AddressSpace(), FIRST_LOAD_BASE)
    return chip_numbers(module, [find_kernel(program, name) for name in kernel_names(list(requests))])


def swept_program(digests: Iterable[bytes], names: Iterable[str], chip: Chip) -> SweptProgram:
    """digests: the SHA-256 of all that the launches depend on besides the chip. names: what `chip_names` gives."""
    digest = sha256(b"".join(digests)).hexdigest()
    return SweptProgram(digest, tuple((name, _number(chip, name)) for name in sorted(names)))


def _number(chip: Chip, name: str) -> int:
    """A number of the chip; of EVERY the first 48 bits of their SHA-256."""
    if name != EVERY:
        return int(getattr(chip, name))
    text = json.dumps(chip.describe(), sort_keys=True)
    return int.from_bytes(sha256(text.encode()).digest()[:6], "little")
