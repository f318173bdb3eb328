"""Sample and counter records as text, JSON lines or CSV. The columns follow from the record's dtype."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpuprof.isa.row import PIPES
from gpuprof.isa.stalls import NAMES
from gpuprof.records.encoding import LaunchRows
from gpuprof.tables.samples import ISSUED, SCHEDULER_ISSUED, SM_SHIFT, STALL_MASK

N_VECTOR_BITS = SM_SHIFT


class Shown(NamedTuple):
    """A column of the text."""

    name: str
    values: Callable[[np.ndarray], list]  # of the dtype's field, as plain Python values
    text: str = "{}"  # format in text and CSV


def _plain(field: np.ndarray) -> list:
    return field.tolist()


def _flag(bit: int) -> Callable[[np.ndarray], list]:
    return lambda flags: [int(bool(value & bit)) for value in flags.tolist()]


def _sm(words: np.ndarray) -> list:
    return (words >> np.uint32(SM_SHIFT)).tolist()


def stall_names(word: int) -> str:
    """The reasons of a stall word, highest priority first, joined by "+"; a bit without a name is shown as bitN."""
    return "+".join(NAMES[bit] if bit < len(NAMES) else f"bit{bit}" for bit in range(N_VECTOR_BITS) if word >> bit & 1)


def _stalls(words: np.ndarray) -> list:
    distinct, where = np.unique(words & np.uint32(STALL_MASK), return_inverse=True)
    names = [stall_names(word) for word in distinct.tolist()]
    return [names[index] for index in where.tolist()]


def _pipes(bits: np.ndarray) -> list:
    return [
        "+".join(name for place, name in enumerate(PIPES) if value >> place & 1) or "none" for value in bits.tolist()
    ]


# columns of names, joined by "+" in text: lists in JSON, and last since they are as long as they like
NAMED = ("stalls", "pipes_busy")


# A field of the dtype that is not here is one column of its own name, as a plain number.
COLUMNS_OF_FIELD = {
    "pc": (Shown("pc", _plain, "{:#010x}"),),
    "stall_sm": (Shown("sm", _sm), Shown("stalls", _stalls)),
    "pipes_busy": (Shown("pipes_busy", _pipes),),
    "mask": (Shown("mask", _plain, "{:#010x}"),),
    "flags": (Shown("issued", _flag(ISSUED)), Shown("scheduler_issued", _flag(SCHEDULER_ISSUED))),
}


def columns(dtype: np.dtype) -> list[tuple[str, Shown]]:
    """(field, column) pairs, the one of names last. The launch of compact records is not in their rows."""
    names = dtype.names or ()
    pairs = [(name, column) for name in names for column in COLUMNS_OF_FIELD.get(name, (Shown(name, _plain),))]
    return sorted(pairs, key=lambda pair: pair[1].name in NAMED)


def values(payload: LaunchRows) -> tuple[list[Shown], Iterator[tuple]]:
    """The columns of a samples chunk, launch first, and a tuple of values for each record."""
    pairs = [(name, column) for name, column in columns(payload.rows.dtype) if name != "launch"]
    lists = [column.values(payload.rows[name]) for name, column in pairs]
    return [Shown("launch", _plain), *(column for _, column in pairs)], zip(
        [payload.launch] * len(payload.rows), *lists, strict=True
    )


def text_lines(payload: LaunchRows) -> Iterator[str]:
    """`name=value` fields, one record per line."""
    header, records = values(payload)
    fields = " ".join(f"{column.name}={column.text}" for column in header)
    return (fields.format(*record) for record in records)


def csv_lines(payload: LaunchRows) -> Iterator[str]:
    """Values in the order of `csv_header`; none holds a comma or a quote."""
    header, records = values(payload)
    fields = ",".join(column.text for column in header)
    return (fields.format(*record) for record in records)


def csv_header(payload: LaunchRows) -> str:
    return ",".join(column.name for column in values(LaunchRows(payload.launch, payload.rows[:0]))[0])


def json_lines(payload: LaunchRows) -> Iterator[str]:
    """One JSON object per record; numbers are numbers, `stalls` and `pipes_busy` lists of names. Nothing in it needs
    JSON's escapes.
    """
    header, records = values(payload)
    fields = ", ".join(f'"{column.name}": {{}}' for column in header)
    assert header[-1].name in NAMED
    return (f"{{{fields.format(*numbers, _json_list(names))}}}" for *numbers, names in records)


@lru_cache(maxsize=4096)
def _json_list(names: str) -> str:
    return json.dumps(names.split("+"))


LINES = {"text": text_lines, "csv": csv_lines, "json": json_lines}
