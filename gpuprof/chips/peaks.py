"""The peak rates of a chip: the most that its numbers let a launch do, whole GPU together.

They are the rates of the model, so that a launch can reach them: DRAM and L2 at the throughput that programs were
measured to reach, units at one warp instruction for each 32 of their lanes and cycle, all at the chip's one clock. A
test holds them against the maker's published figures.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gpuprof.chips.fields import TENSOR
from gpuprof.chips.model import LINE_NBYTES

FUSED = 2  # operations of a multiply-add
PACKED = 2  # elements of a register of f16 or bf16

# What an amount of work a cycle is multiplied by, for each unit of rates: from the chip's numbers by name.
UNITS: dict[str, tuple[tuple[str, ...], Callable[..., float]]] = {
    "GB/s": (("clock_mhz",), lambda mhz: mhz / 1000),
    "GFLOP/s": (("clock_mhz",), lambda mhz: mhz / 1000),
    "GOP/s": (("clock_mhz",), lambda mhz: mhz / 1000),
    "IPC": (("sms",), lambda sms: 1 / sms),
    "pipes": ((), lambda: 1.0),
    "slices": ((), lambda: 1.0),
}


class Resource(NamedTuple):
    """A resource that a launch can saturate. `per_cycle` computes the peak work of a cycle from the chip's numbers with
    these names.
    """

    name: str
    label: str  # on pages
    noun: str  # in a sentence
    unit: str  # of rates: of UNITS
    numbers: tuple[str, ...]
    per_cycle: Callable[..., float]
    text: str  # what its work is; `gpuprof explain` shows it

    @property
    def is_arithmetic(self) -> bool:
        return self.unit in ("GFLOP/s", "GOP/s")

    @property
    def is_compute(self) -> bool:
        return self.is_arithmetic or self.unit == "pipes"


def _vector(name: str, label: str, pipe: str, n_elements: int, text: str) -> Resource:
    def per_cycle(sms: float, partitions: float, lanes: float) -> float:
        return FUSED * n_elements * sms * partitions * lanes

    return Resource(name, label, f"{label} rate", "GFLOP/s", ("sms", "partitions", f"lanes.{pipe}"), per_cycle, text)


def _tensor(elements: str) -> Resource:
    def per_cycle(sms: float, partitions: float, products: float, fp64_lanes: float = 1) -> float:
        # A unit of doubles that the partitions share does their matrix products, too.
        return FUSED * sms * partitions * (products if fp64_lanes >= 1 else min(products, fp64_lanes))

    is_float = not elements.startswith(("s", "b"))
    of = {"f16": "f16 and bf16", "f8": "e4m3 and e5m2", "s8": "s8 and u8", "s4": "s4 and u4"}.get(elements, elements)
    return Resource(
        f"tensor_{elements}",
        f"tensor {elements}",
        f"tensor {elements} rate",
        "GFLOP/s" if is_float else "GOP/s",
        ("sms", "partitions", f"tensor.{elements}", *(("lanes.fp64",) if elements == "f64" else ())),
        per_cycle,
        f"Operations of matrix multiplications of {of}, two for each product that is done. The peak is the tensor "
        "pipe's rate for dense matrices.",
    )


# In the order of pages.
RESOURCES = (
    Resource("dram", "DRAM", "DRAM bandwidth", "GB/s", ("dram_gbytes_per_s", "clock_mhz"),
        lambda gbytes, mhz: 1000 * gbytes / mhz,
        "Bytes read from and written to DRAM. The peak is the throughput that programs were measured to reach; the "
        "data rate of the memory's pins is higher."),
    Resource("l2", "L2", "L2 bandwidth", "GB/s",
        ("l2_slices", "l2_slice_nbytes_per_cycle", "sms", "noc_nbytes_per_cycle"),
        lambda slices, of_slice, sms, of_link: min(slices * of_slice, sms * of_link),
        "Sectors of 32 bytes asked of the L2. The peak is that of all slices, or of the links of all SMs where these "
        "are narrower."),
    Resource("atomics", "atomics", "atomics of a slice of the L2", "slices", ("l2_slices",), lambda slices: 1.0,
        "Cycles that the L2 slice with the most atomics works on them. The peak is all cycles. Atomics on one address "
        "are work of one slice, so that a single one is full long before the L2 is."),
    Resource("l1", "L1", "L1 bandwidth", "GB/s", ("sms", "lsu_cycles"), lambda sms, cycles: sms * LINE_NBYTES / cycles,
        "Sectors of 32 bytes that loads ask of the L1s. The peak is that of all load/store units."),
    Resource("shared", "shared", "bandwidth of shared memory", "GB/s", ("sms",), lambda sms: sms * LINE_NBYTES,
        "Passes through the banks of shared memory, 128 bytes each; bank conflicts count. The peak is one pass a cycle "
        "and SM."),
    Resource("issue", "issue", "issue slots", "IPC", ("sms", "partitions", "dispatch_units"),
        lambda sms, partitions, units: sms * partitions * units,
        "Issue slots used in a cycle by an SM, in the mean of all SMs. The peak is what its schedulers can issue."),
    _vector("f64", "FMA f64", "fp64", 1, "Additions and multiplications of f64; a fused multiply-add is two. The peak "
        "is one multiply-add a cycle for each lane of the fp64 pipes."),
    _vector("f32", "FMA f32", "fma", 1, "Additions and multiplications of f32; a fused multiply-add is two. The peak "
        "is one multiply-add a cycle for each lane of the FMA pipes."),
    _vector("f16", "FMA f16", "half", PACKED, "Additions and multiplications of f16 and bf16; a fused multiply-add is "
        "two. The peak is two multiply-adds a cycle, packed, for each lane of the half pipes."),
    *map(_tensor, TENSOR),
    Resource("tensor_pipe", "tensor", "tensor pipes", "pipes", ("sms", "partitions"),
        lambda sms, partitions: sms * partitions,
        "Tensor pipes that are busy, in the mean of all cycles. The peak is all of them: four an SM, as a rule."),
)  # fmt: skip
BY_NAME = {resource.name: resource for resource in RESOURCES}


class Peak(NamedTuple):
    """A resource's peak on a chip: work of a cycle, and what turns that into the resource's unit."""

    per_cycle: float
    factor: float

    @property
    def rate(self) -> float:
        """The peak rate, in the resource's unit."""
        return self.per_cycle * self.factor


def peaks_of(chip: Mapping[str, Any]) -> dict[str, Peak]:
    """Peaks by the name of the resource, from a chip's description (`Chip.describe`); without the resources whose
    numbers it lacks.
    """
    peaks = {}
    for resource in RESOURCES:
        to_unit, factor = UNITS[resource.unit]
        numbers = [_number(chip, name) for name in resource.numbers]
        others = [_number(chip, name) for name in to_unit]
        if None not in (*numbers, *others):
            peaks[resource.name] = Peak(resource.per_cycle(*numbers), factor(*others))
    return peaks


def _number(chip: Mapping[str, Any], name: str) -> float | None:
    """ "lanes.fma" as chip["lanes"]["fma"]; None for what is no positive number."""
    value: Any = chip
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 < value < math.inf else None
