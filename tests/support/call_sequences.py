"""Random kernels of calls that share `.param` variables: as PTX, and as a plain interpreter runs them.

A variable is a list of 32-bit words. A call takes copies of its arguments and writes copies of its results; nothing
else happens to a variable. `operations` are tuples:

    ("store", name, word, factor, addend)   word = lane * factor + addend
    ("load", name, word)                    the sum that the kernel stores: sum * 31 + word
    ("call", results, function, arguments, by address)
    ("loop", times, operations), ("if", below, operations): lanes below a number, ("block", names, operations)
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from tests.support.ptx_support import preamble

WORD = (1 << 32) - 1
N_LANES = 32
N_MANY = 20  # scalars: more than the convention has registers for


class Kind(NamedTuple):
    """A kind of variable: its declaration in PTX without the name, what follows the name, and its words."""

    declared: str
    extent: str
    n_words: int


KINDS = {
    "s": Kind(".param .b32", "", 1),
    "d": Kind(".param .b64", "", 2),
    "a": Kind(".param .align 8 .b8", "[16]", 4),
    "o": Kind(".param .align 1 .b8", "[16]", 4),
}


class Callee(NamedTuple):
    """A function: kinds of its parameters and of its result, its body in PTX, and what it computes."""

    params: str
    result: str
    body: str
    compute: Callable


def _recursive(x: list[int], n: int) -> list[int]:
    if n & 3 == 0:
        return x
    inner = _recursive([x[3] + 1 & WORD, x[0], x[1], x[2]], (n & 3) - 1)
    return [i + own * 3 & WORD for i, own in zip(inner, x, strict=True)]


def _words(name: str, register: str, n: int) -> str:
    return "".join(f"ld.param.b32 {register}{i}, [{name}+{4 * i}]; " for i in range(n))


def _bytes(name: str, register: str, n: int) -> str:
    """Words of an array that is aligned to one byte."""
    text = ""
    for i in range(n):
        text += f"ld.param.b8 {register}{i}, [{name}+{4 * i}]; "
        for k in (1, 2, 3):
            text += f"ld.param.b8 %t, [{name}+{4 * i + k}]; shl.b32 %t, %t, {8 * k}; "
            text += f"or.b32 {register}{i}, {register}{i}, %t; "
    return text


CALLEES = {
    "f": Callee("s", "s", _words("x0", "%x", 1) + "mad.lo.u32 %r0, %x0, 3, 1; ", lambda x: [x[0] * 3 + 1]),
    "g": Callee(
        "aa",
        "s",
        _words("x0", "%x", 4) + _words("x1", "%y", 4)
        + "mad.lo.u32 %r0, %y1, 5, %x0; mad.lo.u32 %r0, %x3, 7, %r0; mad.lo.u32 %r0, %y2, 11, %r0; ",
        lambda x, y: [x[0] + 5 * y[1] + 7 * x[3] + 11 * y[2]],
    ),
    "m": Callee(
        "aa",
        "a",
        _words("x0", "%x", 4) + _words("x1", "%y", 4)
        + "".join(f"mad.lo.u32 %r{i}, %x{i}, 3, %y{3 - i}; add.u32 %r{i}, %r{i}, {i}; " for i in range(4)),
        lambda x, y: [x[i] * 3 + y[3 - i] + i for i in range(4)],
    ),
    "w": Callee(
        "das",
        "d",
        _words("x0", "%x", 2) + _words("x1", "%y", 4) + _words("x2", "%z", 1)
        + "add.u32 %r0, %x0, %y0; xor.b32 %r1, %x1, %z0; ",
        lambda x, y, z: [x[0] + y[0], x[1] ^ z[0]],
    ),
    "o": Callee(
        "oa",
        "o",
        _bytes("x0", "%x", 4) + _words("x1", "%y", 4) + "".join(f"add.u32 %r{i}, %x{i}, %y{i}; " for i in range(4)),
        lambda x, y: [x[i] + y[i] for i in range(4)],
    ),
    "many": Callee(
        "s" * N_MANY,
        "s",
        "mov.u32 %r0, 0; "
        + "".join(f"ld.param.b32 %x0, [x{k}]; mad.lo.u32 %r0, %x0, {k + 1}, %r0; " for k in range(N_MANY)),
        lambda *x: [sum((k + 1) * each[0] for k, each in enumerate(x))],
    ),
    "rec": Callee(
        "as",
        "a",
        _words("x0", "%x", 4) + _words("x1", "%y", 1)
        + """and.b32 %y0, %y0, 3; setp.eq.u32 %p, %y0, 0; sub.u32 %y0, %y0, 1;
mov.u32 %r0, %x0; mov.u32 %r1, %x1; mov.u32 %r2, %x2; mov.u32 %r3, %x3; @%p bra $done;
{ .param .align 8 .b8 v[16]; .param .b32 n; add.u32 %t, %x3, 1; st.param.v4.b32 [v], {%t, %x0, %x1, %x2};
st.param.b32 [n], %y0; call (v), rec, (v, n); ld.param.v4.b32 {%r0, %r1, %r2, %r3}, [v]; }
mad.lo.u32 %r0, %x0, 3, %r0; mad.lo.u32 %r1, %x1, 3, %r1; mad.lo.u32 %r2, %x2, 3, %r2; mad.lo.u32 %r3, %x3, 3, %r3;
$done: """,
        lambda x, n: _recursive(x, n[0]),
    ),
}  # fmt: skip


# -- as PTX ----------------------------------------------------------------------------------------


def _store(name: str, kind: str, word: int, register: str) -> str:
    if kind != "o":
        return f"st.param.b32 [{name}+{4 * word}], {register};\n"
    return "".join(f"shr.u32 %t, {register}, {8 * k}; st.param.b8 [{name}+{4 * word + k}], %t;\n" for k in range(4))


def _load(name: str, kind: str, word: int) -> str:
    if kind != "o":
        return f"ld.param.b32 %v, [{name}+{4 * word}];\n"
    text = "mov.u32 %v, 0;\n"
    for k in range(4):
        text += f"ld.param.b8 %t, [{name}+{4 * word + k}]; shl.b32 %t, %t, {8 * k}; or.b32 %v, %v, %t;\n"
    return text


def _signature(callee: Callee, name: str) -> str:
    def declared(kind: str, name: str) -> str:
        return f"{KINDS[kind].declared} {name}{KINDS[kind].extent}"

    params = ", ".join(declared(kind, f"x{i}" if name != "_" else "_") for i, kind in enumerate(callee.params))
    return f"({declared(callee.result, 'q' if name != '_' else '_')}) {name} ({params})"


def _function(name: str) -> str:
    callee = CALLEES[name]
    stores = "".join(_store("q", callee.result, i, f"%r{i}") for i in range(KINDS[callee.result].n_words))
    return (
        f".func {_signature(callee, name)}\n{{ .reg .b32 %x<4>, %y<4>, %z<4>, %r<4>, %t; .reg .pred %p;\n"
        f"{callee.body}\n{stores}ret; }}\n"
    )


class _Printer:
    def __init__(self):
        self.labels = 0

    def text(self, operations: list) -> str:
        return "".join(getattr(self, "_" + each[0])(*each[1:]) for each in operations)

    def _store(self, name: str, word: int, factor: int, addend: int) -> str:
        return f"mad.lo.u32 %v, %lane, {factor}, {addend};\n" + _store(name, name[0], word, "%v")

    def _load(self, name: str, word: int) -> str:
        return _load(name, name[0], word) + "mad.lo.u32 %sum, %sum, 31, %v;\n"

    def _call(self, results, name: str, arguments, by_address: bool) -> str:
        given = f"({', '.join(results)}), " if results else ""
        if not by_address:
            return f"call {given}{name}, ({', '.join(arguments)});\n"
        self.labels += 1
        return (
            f"{{ proto{self.labels}: .callprototype {_signature(CALLEES[name], '_')};\nmov.u64 %address, {name};\n"
            f"call {given}%address, ({', '.join(arguments)}), proto{self.labels}; }}\n"
        )

    def _loop(self, times: int, operations) -> str:
        self.labels += 1
        n = self.labels
        return (
            f"{{ .reg .b32 %n; .reg .pred %go; mov.u32 %n, 0;\n$loop{n}:\n{self.text(operations)}"
            f"add.u32 %n, %n, 1; setp.lt.u32 %go, %n, {times}; @%go bra $loop{n}; }}\n"
        )

    def _if(self, below: int, operations) -> str:
        self.labels += 1
        n = self.labels
        return f"setp.ge.u32 %p, %lane, {below}; @%p bra $end{n};\n{self.text(operations)}$end{n}:\n"

    def _block(self, names, operations) -> str:
        declared = "".join(f"{KINDS[n[0]].declared} {n}{KINDS[n[0]].extent};\n" for n in names)
        return f"{{ {declared}{self.text(operations)}}}\n"


def ptx_of(operations: list, target: str = "sm_80") -> str:
    """A kernel `k(out)` that stores the sum of each lane."""
    return (
        preamble(target)
        + "".join(map(_function, CALLEES))
        + f""".visible .entry k(.param .u64 out)
{{ .reg .b32 %lane, %v, %t, %sum; .reg .b64 %address, %out; .reg .pred %p;
mov.u32 %lane, %tid.x; mov.u32 %sum, 0;
{_Printer().text(operations)}
ld.param.u64 %out, [out]; mad.wide.u32 %out, %lane, 4, %out; st.global.u32 [%out], %sum; ret; }}
"""
    )


# -- as an interpreter runs them -------------------------------------------------------------------


def sum_of(operations: list, lane: int) -> int:
    """What one lane's sum is."""
    return _Lane(lane).run(operations)


class _Lane:
    def __init__(self, lane: int):
        self.lane = lane
        self.scopes: list[dict[str, list[int]]] = []
        self.sum = 0

    def run(self, operations) -> int:
        for each in operations:
            getattr(self, "_" + each[0])(*each[1:])
        return self.sum

    def _of(self, name: str) -> list[int]:
        return next(scope[name] for scope in reversed(self.scopes) if name in scope)

    def _store(self, name, word, factor, addend):
        self._of(name)[word] = self.lane * factor + addend & WORD

    def _load(self, name, word):
        self.sum = self.sum * 31 + self._of(name)[word] & WORD

    def _call(self, results, function, arguments, by_address):
        found = CALLEES[function].compute(*([*self._of(name)] for name in arguments))
        for name in results:
            if name != "_":
                self._of(name)[:] = [word & WORD for word in found]

    def _loop(self, times, operations):
        for _ in range(times):
            self.run(operations)

    def _if(self, below, operations):
        if self.lane < below:
            self.run(operations)

    def _block(self, names, operations):
        self.scopes.append({name: [0] * KINDS[name[0]].n_words for name in names})
        self.run(operations)
        self.scopes.pop()


# -- made at random --------------------------------------------------------------------------------


def sequence(seed: int) -> list:
    """Operations in which any variable may be an argument or a result of any call, several times over."""
    return [_Maker(random.Random(seed)).block(0)]


def _functions_with(result: str) -> list[str]:
    return [name for name, callee in CALLEES.items() if callee.result == result]


class _Maker:
    def __init__(self, rng: random.Random):
        self.rng = rng

    def block(self, depth: int) -> tuple:
        names = [f"{kind}{i}" for kind in KINDS for i in range(self.rng.randint(1, 2))]
        stores = [op for name in names for op in self._stores(name)]
        # Whatever is loaded is the result of a call somewhere.
        calls = [
            self._call([each for each, callee in CALLEES.items() if callee.result == n[0]], names, n) for n in names
        ]
        loads = [("load", name, word) for name in names for word in range(KINDS[name[0]].n_words)]
        return ("block", tuple(names), [*stores, *calls, *self.body(depth, names), *loads])

    def _stores(self, name: str) -> list:
        n = KINDS[name[0]].n_words
        return [("store", name, word, self.rng.randint(0, 9), self.rng.randint(0, 999)) for word in range(n)]

    def _call(self, functions: list[str], names: list[str], result: str) -> tuple:
        function = self.rng.choice(functions)
        arguments = tuple(self.rng.choice([n for n in names if n[0] == kind]) for kind in CALLEES[function].params)
        return ("call", (result,), function, arguments, self.rng.random() < 0.2)

    def body(self, depth: int, names: list[str]) -> list:
        operations = []
        for _ in range(self.rng.randint(2, 6)):
            choice = self.rng.random()
            if choice < 0.45:
                function = self.rng.choice(list(CALLEES))
                result = self.rng.choice(["_", *(n for n in names if n[0] == CALLEES[function].result)])
                operations.append(self._call([function], names, result))
            elif choice < 0.6:
                operations += self._stores(self.rng.choice(names))[:2]
            elif choice < 0.75:
                name = self.rng.choice(names)
                operations.append(("load", name, self.rng.randrange(KINDS[name[0]].n_words)))
            elif depth < 2:
                operations.append(self._nested(depth + 1, names))
        return operations

    def _nested(self, depth: int, names: list[str]) -> tuple:
        kind = self.rng.choice(["loop", "if", "block"])
        if kind == "block":
            return self.block(depth)
        return (kind, 2 if kind == "loop" else self.rng.randint(1, 31), self.body(depth, names))
