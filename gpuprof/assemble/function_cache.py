"""Functions of a module as they were assembled before, cached on disk next to the compiler's modules.

An entry holds all functions of one module, by a digest of all that decides what becomes of each: its text, what it
refers to with the places of that, the options, and the assembler's own files. So in a module that has changed only the
functions that have changed are assembled. Positions in the source are no part of it: a function that has only moved in
its file is the same.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from gpuprof.assemble.abi.layout import Layout
from gpuprof.assemble.assembled import Assembled, Registers
from gpuprof.assemble.ir.body import Clobbers
from gpuprof.assemble.ptx import ast
from gpuprof.base import ptx_strings
from gpuprof.base.caching import entries
from gpuprof.isa import opcodes
from gpuprof.isa.encoding import INSTRUCTION_DTYPE

_SMALLEST = 1 << 15  # characters of a module: assembling a smaller one takes no longer than looking here
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")
_POSITION = r"[ \t]+\d+[ \t]+\d+[ \t]+\d+"
_LOC = re.compile(
    rf"^[ \t]*\.loc{_POSITION}(?:,[ \t]*function_name[ \t]+[\w$]+,[ \t]*inlined_at{_POSITION})?[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_ARRAYS = (("code", INSTRUCTION_DTYPE), ("lines", np.dtype(np.int32)), ("positions", np.dtype(np.int32)))


@cache
def _own_files() -> bytes:
    """A digest of the files that decide what functions become."""
    rooms = (Path(__file__).parent, Path(opcodes.__file__).parent)
    paths = sorted(path for room in rooms for path in room.rglob("*.py"))
    return entries.digest(path.read_bytes() for path in (*paths, Path(ptx_strings.__file__))).encode()


class FunctionCache:
    """The functions of one module; `name`, `arch`, `max_registers` say which. `save` keeps what was assembled."""

    def __init__(self, module, max_registers: int | None):
        self.text = module.ptx
        of_module = json.dumps([module.name, module.arch, max_registers, sys.version_info[:2]])
        self.entry = entries.digest([of_module.encode(), _own_files()])
        self.known = dict(_read(entries.stored(entries.FUNCTIONS, self.entry)))
        self.keys: dict[str, str] = {}  # by function
        self.now: dict[str, Assembled] = {}

    def find(self, function: ast.Function, layout: Layout, limit: int, is_wanted: bool) -> Assembled | None:
        """The result for such a function, or None. `limit`, `is_wanted`: of its registers, as in `registers.fit`."""
        first, last = function.span
        if first == last:
            return None  # it is not of this text
        key = _key(function, self.text[first:last], layout, limit, is_wanted)
        self.keys[function.name] = key
        found = self.known.get(key)
        if found is not None:
            self.now[key] = found
        return found

    def keep(self, function: ast.Function, made: Assembled) -> None:
        if function.name in self.keys:
            self.now[self.keys[function.name]] = made

    def save(self) -> None:
        """Writes the entry, if there is anything new in it."""
        if self.now.keys() - self.known.keys():
            entries.store(entries.FUNCTIONS, self.entry, b"".join(_written(self.now)))


def function_cache(module, max_registers: int | None) -> FunctionCache | None:
    """None for a module that is so small that looking for its functions would not pay."""
    return FunctionCache(module, max_registers) if len(module.ptx) >= _SMALLEST else None


def _key(function: ast.Function, text: str, layout: Layout, limit: int, is_wanted: bool) -> str:
    tree = layout.module
    words = set(_WORD.findall(text))
    name = function.name
    facts = (
        (tree.version, tree.target, tree.is_debug, tree.keeps_loops, tree.address_bits, tree.registers),
        (name, function.is_kernel, function.linkage, limit, is_wanted),
        (layout.constants_nbytes, layout.module_local.nbytes),
        (layout.param_offsets.get(name), layout.shared_offsets[name]),
        [
            (variable.key, variable.space, variable.type, variable.nbytes, variable.align, variable.is_array,
             variable.linkage, variable.is_pointer, variable.vector, layout.const_offsets.get(each),
             layout.module_local.offsets.get(variable.key))
            for each, variable in layout.variables.items() if variable.name in words or each.startswith(f"{name}::")
        ],
        [
            (each, other.is_kernel, other.linkage, other.body is None, _declared(other.params),
             _declared(other.returns))
            for each, other in layout.functions.items() if each in words
        ],
        [variable.key for variable in _variables(function.body)],
        function.marks,
    )  # fmt: skip
    return hashlib.sha256(f"{facts!r}\n{_LOC.sub('.loc', text)}".encode("utf-8", "surrogatepass")).hexdigest()


def _declared(variables: tuple[ast.Variable, ...]) -> list[tuple]:
    return [(v.name, v.space, v.type, v.nbytes, v.align, v.is_array, v.vector, v.is_pointer) for v in variables]


def _variables(block: ast.Block | None) -> Iterator[ast.Variable]:
    for statement in block.statements if block else ():
        if isinstance(statement, ast.Block):
            yield from _variables(statement)
        elif isinstance(statement, ast.Variable):
            yield statement


def _written(functions: dict[str, Assembled]) -> Iterator[bytes]:
    """A line of JSON with what is no array, and the arrays of all functions."""
    plain = {}
    for key, made in functions.items():
        plain[key] = made._asdict() | {"n": len(made.code)}
        for name, _ in _ARRAYS:
            del plain[key][name]
    yield json.dumps(plain).encode() + b"\n"
    for made in functions.values():
        for name, dtype in _ARRAYS:
            yield getattr(made, name).astype(dtype).tobytes()


def _read(data: bytes | None) -> Iterator[tuple[str, Assembled]]:
    if data is None:
        return
    plain, _, _ = data.partition(b"\n")
    at = len(plain) + 1
    for key, values in json.loads(plain).items():
        arrays, n = {}, values.pop("n")
        for name, dtype in _ARRAYS:
            arrays[name] = np.frombuffer(data, dtype, n, at)
            at += arrays[name].nbytes
        values["calls"] = tuple((index, target) for index, target in values["calls"])
        values["relocations"] = tuple((index, symbol, addend) for index, symbol, addend in values["relocations"])
        values["literals"], values["callees"] = tuple(values["literals"]), tuple(values["callees"])
        values["registers"] = Registers(*values["registers"])
        values["counted_on"] = {name: Clobbers(*each) for name, each in values["counted_on"].items()}
        yield key, Assembled(**arrays, **values)
