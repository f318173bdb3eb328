"""The flags that set the sampler, of `collect` and of `replay`: one row each, and the register of
timing.sampling.configuration.Sampling that it sets.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from gpuprof.cli.options.filtering import filter_flags, filter_options
from gpuprof.cli.options.near_choice import NearChoice

DEFAULT_PERIOD_CYCLES = 256


MOST_PARTITION = (1 << 31) - 1  # a number of 32 bits; the chip says which it has
MOST_CYCLES = 1 << 62  # counts of cycles have 64 bits, and are added up


class Cycles(click.ParamType):
    """A number of cycles; a power of two may be written 2^10."""

    name = "cycles"

    def __init__(self, least: int):
        self.least = least

    def convert(self, value, param, ctx):
        text = str(value)
        try:
            base, _, exponent = text.partition("^")
            cycles = int(base) ** int(exponent) if exponent and len(exponent) < 3 else int(text)
        except ValueError:
            self.fail(f"{text!r} is not a number of cycles, such as 1024 or 2^10", param, ctx)
        if cycles < self.least:
            self.fail(f"{text}: must be at least {self.least}", param, ctx)
        if cycles > MOST_CYCLES:
            self.fail(f"{text}: must be at most 2^62", param, ctx)
        return cycles


class Period(Cycles):
    """A number of cycles, or `auto`; makes the registers."""

    def convert(self, value, param, ctx):
        if value == "auto":
            return {"period_cycles": 0, "auto_period": 1}
        return {"period_cycles": super().convert(value, param, ctx), "auto_period": 0}


class Events(click.ParamType):
    """KIND:K, a kind of event and how many of them; makes the registers of a cell that counts events, or cycles, if
    these are the kind.
    """

    name = "trigger"

    def convert(self, value, param, ctx):
        kind, _, number = str(value).partition(":")
        every = (
            Cycles(1).convert(number, param, ctx)
            if number
            else self.fail(f"{value!r} does not say how many; give the number of events, as in l1_miss:100", param, ctx)
        )
        if kind == "cycles":
            return {"trigger": kind, "every": 0, "period_cycles": every, "auto_period": 0}
        return {"trigger": kind, "every": every, "period_cycles": 0, "auto_period": 0, "mode": "trigger"}


MODES = ("random", "round-robin", "all", "stalled", "trigger")


class Size(click.ParamType):
    """A number of bytes; K, M and G stand for powers of 1,024."""

    name = "size"

    def convert(self, value, param, ctx):
        text = str(value)
        number, factor = (text[:-1], UNITS[text[-1].upper()]) if text[-1:].upper() in UNITS else (text, 1)
        if not (number.isascii() and number.isdecimal() and len(number) < 19):
            self.fail(f"{text!r} is not a number of bytes, such as 4096, 512K or 32M", param, ctx)
        return int(number) * factor


UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Flag(NamedTuple):
    """`type` may make a dict of registers and values, where a flag sets several; `register` is then the one it is named
    after.
    """

    name: str
    register: str
    type: Any
    text: str
    metavar: str | None = None


STREAM_TEXT = (
    "Records leave over a port of their own (aux), or as stores of the kernel's SM (lsu). lsu slows the kernel; the "
    "report says by how much.  [default: aux]"
)
FLAGS = (  # what a later one sets goes before what an earlier one does
    Flag(
        "--trigger",
        "trigger",
        Events(),
        "Sample at every K-th event of an SM instead of by cycles: see `gpuprof list triggers`.",
        "KIND:K",
    ),
    Flag(
        "--period",
        "period_cycles",
        Period(0),
        "Sampling period, 2^5 to 2^31; 0: no samples; auto: the shortest without losses.  [default: "
        f"{DEFAULT_PERIOD_CYCLES}]",
        "CYCLES",
    ),
    Flag(
        "--mode",
        "mode",
        NearChoice(MODES),
        "Warps of an SM to sample: a random one, the one in the next slot, all, one of each partition that issued "
        "nothing, or the one that caused the event.  [default: random; with --trigger: trigger]",
    ),
    Flag("--seed", "seed", click.IntRange(min=0), "Seed of random data and random sampling.  [default: 0]", "N"),
    Flag(
        "--phase",
        "phase_cycles",
        Cycles(0),
        "Offset of the first sample within the period.  [default: 0]",
        "CYCLES",
    ),
    Flag(
        "--partition",
        "partition",
        click.IntRange(0, MOST_PARTITION),
        "Sample only this partition of each SM.  [default: all]",
        "P",
    ),
    Flag(
        "--stall",
        "stall",
        NearChoice(["vector", "index"]),
        "Store every stall reason that holds (vector), or only the first (index).  [default: vector]",
    ),
    Flag(
        "--counters",
        "counters",
        str,
        "Record these counters with the samples of a cycle: issued, eligible, active, pipes, l1, l2, dram; and exact "
        "ones of blocks, or of blocks and their warps: blocks, waves."
        "  [default: none; with --record wide+counters: all that are sampled]",
        "NAMES",
    ),
    Flag(
        "--fifo",
        "fifo_depth",
        click.IntRange(1, 4096),
        "Size of each SM's FIFO; further records are dropped.  [default: 16]",
        "RECORDS",
    ),
    Flag(
        "--drain",
        "drain_cycles",
        Cycles(1),
        "Cycles the FIFO takes to release one record.  [default: the chip's]",
        "CYCLES",
    ),
    Flag("--stream", "stream", NearChoice(["aux", "lsu"]), STREAM_TEXT),
    Flag(
        "--buffer",
        "buffer_nbytes",
        Size(),
        "Size of the event buffer of all SMs, such as 32M; further records are dropped.  [default: 512M]",
        "BYTES",
    ),
    Flag(
        "--poll",
        "poll_cycles",
        Cycles(1),
        "Cycles from one emptying of the buffer by the host to the next.  [default: 100 ms]",
        "CYCLES",
    ),
)


def sampler_options(command: Callable, with_defaults: bool = True) -> Callable:
    """Gives a command the flags, and what was given of them as its argument `registers`: a dict of register and value.

    with_defaults: whether the help says what holds where a flag is not given.
    """

    @wraps(command)
    def with_registers(**given):
        registers = {}
        for register in (*(flag.register for flag in FLAGS), "filter"):
            value = given.pop(register)
            if value is not None:
                registers |= value if isinstance(value, dict) else {register: value}
        return command(registers=registers, **given)

    with_registers = filter_options(with_registers)
    for flag in reversed(FLAGS):
        text = flag.text if with_defaults else flag.text.partition("  [default")[0]
        with_registers = click.option(flag.name, flag.register, type=flag.type, metavar=flag.metavar, help=text)(
            with_registers
        )
    return with_registers


def sampler_flags(sampling) -> list[str]:
    """The flags as words of a command line: the period, and what is not as usual."""
    from gpuprof.timing.sampling.configuration import Sampling
    from gpuprof.timing.sampling.control_registers import registers

    usual = registers(Sampling())
    return register_flags(
        {name: value for name, value in registers(sampling).items() if value != usual[name] or name == "period_cycles"}
    )


def register_flags(registers: dict) -> list[str]:
    """The flags that set some registers, by name, as words of a command line."""
    words = []
    for flag in FLAGS:
        value = registers.get(flag.register)
        # of events the trigger says how many
        if value is None or (flag.register == "period_cycles" and "trigger" in registers):
            continue
        if flag.register == "trigger":
            value = f"{value}:{registers['every']}"
        words += [
            flag.name,
            "auto" if flag.register == "period_cycles" and registers.get("auto_period") else str(value),
        ]
    return words + filter_flags(registers.get("filter", ""))
