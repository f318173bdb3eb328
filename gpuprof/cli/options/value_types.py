"""Types of options' values: choices, names of files, counts with their unit, words of the sampling filter."""

import math
import re
from pathlib import Path

import click

from gpuprof.base.wording import suggestion
from gpuprof.cli.options.renamed import check_renamed

MOST_COUNT = 1 << 62  # counts have 64 bits, and are added up
RANDOM = "random"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SECONDS = {"s": 1, "m": 60, "h": 3600}
_SIZE = re.compile(r"([0-9]{1,18})([KMG]?)(?:(?<=[KMG])iB)?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh])")


class NearChoice(click.Choice):
    """A choice whose error message suggests the nearest word."""

    def get_invalid_choice_message(self, value, ctx):
        near = suggestion(str(value), self.choices)
        message = super().get_invalid_choice_message(value=value, ctx=ctx)
        return f"{message.rstrip('.')}; {near}" if near else message


class InputPath(click.Path):
    """The type of an option that names a file that is read, and never written."""

    def __init__(self):
        super().__init__(path_type=Path)


class Count(click.ParamType):
    """A number of cycles or instructions; a power of two may be written 2^10."""

    def __init__(self, least: int, unit: str = "cycles"):
        self.least, self.name = least, unit

    def convert(self, value, param, ctx):
        text = str(value)
        try:
            base, _, exponent = text.partition("^")
            count = int(base) ** int(exponent) if exponent and len(exponent) < 3 else int(text)
        except ValueError:
            self.fail(f"{text!r} is not a number of {self.name}, such as 1024 or 2^10", param, ctx)
        if count < self.least:
            self.fail(f"{text}: must be at least {self.least}", param, ctx)
        if count > MOST_COUNT:
            self.fail(f"{text}: must be at most 2^62", param, ctx)
        return count


class Period(Count):
    """A number of cycles, or `auto`; converts to registers of the sampler."""

    def convert(self, value, param, ctx):
        if value == "auto":
            return {"period_cycles": 0, "auto_period": 1}
        return {"period_cycles": super().convert(value, param, ctx), "auto_period": 0}


class Events(click.ParamType):
    """KIND:K, a kind of event and a number of events; converts to the registers of a sampler that counts events (cycles
    are a kind, too).
    """

    name = "trigger"

    def convert(self, value, param, ctx):
        kind, _, number = str(value).partition(":")
        if not number:
            self.fail(f"{value!r} does not say how many; give the number of events, as in l1_miss:100", param, ctx)
        every = Count(1).convert(number, param, ctx)
        if kind == "cycles":
            return {"trigger": kind, "every": 0, "period_cycles": every, "auto_period": 0}
        return {"trigger": kind, "every": every, "period_cycles": 0, "auto_period": 0, "mode": "trigger"}


class FilterWord(click.ParamType):
    """KEY=VALUE of the sampling filter. Raises UsageError for a key that has an option of its own."""

    name = "filter"

    def convert(self, value, param, ctx):
        key, equals, rest = value.partition("=")
        check_renamed(f"--filter {key.strip()}{equals}{rest}")
        return value


class Size(click.ParamType):
    """A number of bytes; K, M and G, or KiB, MiB and GiB, are powers of 1,024."""

    name = "size"

    def convert(self, value, param, ctx):
        match = _SIZE.fullmatch(str(value))
        if not match:
            self.fail(f"{str(value)!r} is not a number of bytes, such as 4096, 512K or 32M", param, ctx)
        return int(match[1]) * UNITS[match[2].upper()]


class Seconds(click.ParamType):
    """A time with its unit, s, m or h; converts to seconds."""

    name = "time"

    def convert(self, value, param, ctx):
        match = _TIME.fullmatch(str(value))
        if not match or not float(match[1]):
            self.fail(f"{str(value)!r} is not a time, such as 90s, 10m or 1h", param, ctx)
        return float(match[1]) * SECONDS[match[2]]


class LoadBase(click.ParamType):
    """A code address, as 0x7f000000 or in decimal, or "random"."""

    name = "address"

    def convert(self, value, param, ctx):
        if value == RANDOM or isinstance(value, int):
            return value
        try:
            return int(value, 0)
        except ValueError:
            self.fail(f"{value!r} is no address, such as 0x200000, and not {RANDOM}", param, ctx)


class Tolerance(click.ParamType):
    """A finite number from 0 on: with an infinite one all arrays would be equal."""

    name = "tolerance"

    def convert(self, value, param, ctx):
        try:
            tolerance = float(value)
        except ValueError:
            tolerance = math.nan
        if not 0 <= tolerance < math.inf:
            self.fail(f"{value!r} is not a finite number from 0 on", param, ctx)
        return tolerance
