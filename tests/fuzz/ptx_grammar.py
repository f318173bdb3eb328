"""Damage to PTX that knows its grammar: operands of wrong kinds and numbers, modifiers of the opcode's own vocabulary,
names that are not there.

Also whole texts to be damaged: kernels of 1 to 30 forms out of the tables of forms.
"""

import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import NamedTuple

from tests.forms import (
    common as ptx_forms_common,
    hopper as ptx_forms_hopper,
    memory as ptx_forms_memory,
    modules as ptx_forms_modules,
    scalar as ptx_forms_scalar,
    tensor as ptx_forms_tensor,
    texture as ptx_forms_texture,
)
from tests.fuzz.ptx_mixes import Mix


class Family(NamedTuple):
    """Forms, and what makes a module of some of them."""

    forms: list[str]
    module: Callable[[list[str]], str]


def _registers(n: int, prefix: str) -> str:
    return "{" + ", ".join(f"%{prefix}{k}" for k in range(n)) + "}"


def _matrix_forms() -> list[str]:
    """Matrix instructions with registers of about the right number; the exact numbers are a conformance test's
    matter.
    """
    found = []
    for form in ptx_forms_tensor.MMA + ptx_forms_tensor.SPARSE:
        m, n, k = form.shape
        bits = {
            "f16": 16,
            "bf16": 16,
            "tf32": 32,
            "f32": 32,
            "f64": 64,
            "s32": 32,
            "s8": 8,
            "u8": 8,
            "s4": 4,
            "u4": 4,
            "b1": 1,
            "e4m3": 8,
            "e5m2": 8,
        }

        def group(rows, columns, kind, first, bits=bits):
            prefix, width = {"f64": ("d", 64), "f32": ("f", 32)}.get(kind, ("r", 32))
            n_registers = max(1, rows * columns * bits[kind] // 32 // width)
            return "{" + ", ".join(f"%{prefix}{first + i}" for i in range(n_registers)) + "}"

        sparse = form.sparse != ""
        operands = [
            group(m, n, form.d, 0),
            group(m, k // 2 if sparse else k, form.a, 8),
            group(k, n, form.b, 16),
            group(m, n, form.c, 24),
        ]
        found.append(f"{form.opcode} {', '.join(operands)}{f', %r0, {form.selector}' if sparse else ''};")
    for name in ptx_forms_tensor.MATRICES:
        count = int(re.search(r"x(\d)", name)[1])
        address, group = "[%a0]", _registers(count, "r")
        found.append(f"{name} {group}, {address};" if name.startswith("ld") else f"{name} {address}, {group};")
    for form in ptx_forms_tensor.WMMA:
        found.append(f"{form.load('a')} {_registers(8, 'r')}, [%a0];")
        found.append(f"{form.store} [%a0], {_registers(8, 'f' if form.d == 'f32' else 'r')};")
        found.append(
            f"{form.opcode} {_registers(8, 'f')}, {_registers(8, 'r')}, {_registers(8, 'r')}, {_registers(8, 'f')};"
        )
    for form in ptx_forms_tensor.WGMMA:
        prefix = "f" if form.d == "f32" else "r"
        n_registers = form.n // 2 if form.d != "f16" else form.n // 4
        a = _registers(4, "r") if form.in_registers else "%a1"
        found.append(f"{form.opcode} {_registers(n_registers, prefix)}, {a}, %a2, 1{form.immediates};")
    found += ["wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    return found


_MATRIX_HEAD = """\
.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[4096];
.visible .entry k(.param .u64 p0)
{
    .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<130>; .reg .f32 %f<130>; .reg .f64 %d<40>; .reg .b64 %a<4>;
    mov.u64 %a0, tile; mov.u64 %a1, 0; mov.u64 %a2, 0;
"""


@cache
def families() -> dict[str, Family]:
    memory = [form for forms in ptx_forms_memory.FORMS.values() for form in forms]
    return {
        "scalar": Family([f for t in ptx_forms_scalar.FORMS for f in ptx_forms_scalar.forms(t)],
            lambda some: ptx_forms_scalar.module("sm_90", some)[0]),
        "memory": Family(memory, lambda some: ptx_forms_memory.module("sm_90", some)),
        "hopper": Family(list(ptx_forms_hopper.FORMS), lambda some: ptx_forms_hopper.kernel("\n".join(some))),
        "tensor": Family(_matrix_forms(), lambda some: _MATRIX_HEAD + "\n".join(some) + "\nret;\n}\n"),
        "texture": Family(list(ptx_forms_texture.FORMS), ptx_forms_texture.ptx_of),
        "common": Family([line for group in ptx_forms_common.FORMS for line in ptx_forms_common.lines(group)],
            lambda some: ptx_forms_common.kernel("\n".join(some))),
        "modules": Family(list(ptx_forms_modules.MODULES.values()), lambda some: ptx_forms_modules.HEAD + some[0]),
    }  # fmt: skip


def text_of_forms(rng: Random) -> str:
    """One kernel with 1 to 30 forms of a family, or a mix that runs."""
    if rng.random() < 0.2:
        return Mix(rng.random(), rng.randrange(1, 30)).text()
    family = rng.choice(list(families().values()))
    return family.module([rng.choice(family.forms) for _ in range(rng.choice((1, 1, 2, 5, 12, 30)))])


# --- damage

_STATEMENT = re.compile(r"(?:(@!?%\w+)\s+)?\b([a-z]\w*(?:\.\w+(?:::\w+)*)*)\s+([^;{}]*(?:\{[^{};]*\}[^;{}]*)*);")
_DECLARED = re.compile(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+([^;]+);")
_IMMEDIATES = (
    "0", "1", "-1", "7", "32", "64", "255", "4096", "2147483648", "-2147483649", "4294967296", "18446744073709551615",
    "18446744073709551616", "1.5", "-0.0",
    "0f7FC00000", "0d7FF8000000000000", "1e400", "-9223372036854775809", "WARP_SZ", "(1<<40)", "0x80000000", "~0", "!0",
)  # fmt: skip
_WORDS = (
    "cc sat ftz rn rz rm rp rni rzi approx full lo hi wide wrap clamp NaN abs xorsign relu noftz satfinite sync async "
        "aligned up down bfly idx all any uni "
    "ballot global shared const local param generic cta cluster gpu sys shared::cta shared::cluster volatile relaxed "
        "acquire release acq_rel weak mmio ca cg cs lu cv wb wt nc "
    "v2 v4 v8 b1 b8 b16 b32 b64 b128 u4 u8 u16 u32 u64 s4 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 e4m3 e5m2 e4m3x2 "
        "e5m2x2 f32 f64 f32x2 u16x2 s16x2 pred "
    "eq ne lt le gt ge equ ltu num nan and or xor not inc dec cas exch add min max popc x1 x2 x4 trans row col m8n8k4 "
        "m16n8k16 m16n16k16 m64n64k16 "
    "1d 2d 3d a1d a2d cube acube level grad base trap zero clamp L2::cache_hint L2::128B L1::no_allocate "
        "mbarrier::complete_tx::bytes bulk_group multicast::cluster "
    "im2col tile parity expect_tx noComplete b4e f4e b0 b3 h0 h1 po shr7 sp sp::ordered_metadata read bulk tensor"
)  # fmt: skip
_VOCABULARY = _WORDS.split()
_KINDS = "pred b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128 f16 f16x2 bf16 texref surfref samplerref"


@cache
def _vocabulary(opcode: str) -> list[str]:
    """Modifiers that any form of the opcode has."""
    words = set()
    for family in families().values():
        for form in family.forms:
            for _, mnemonic, _ in _STATEMENT.findall(form):
                first, *rest = mnemonic.split(".")
                if first == opcode:
                    words |= set(rest)
    return sorted(words) or _VOCABULARY


def _split(operands: str) -> list[str]:
    """Operands of a statement: commas in brackets do not part them."""
    parts, depth, at = [], 0, 0
    for index, character in enumerate(operands):
        depth += (character in "{[(") - (character in "}])")
        if character == "," and depth == 0:
            parts.append(operands[at:index].strip())
            at = index + 1
    return [*parts, operands[at:].strip()] if operands.strip() else []


def _names(text: str) -> list[str]:
    """Registers the text declares."""
    found = []
    for _, names in _DECLARED.findall(text):
        for name in names.split(","):
            name = name.strip()
            ranged = re.fullmatch(r"(.*)<(\d+)>", name)
            found += [f"{ranged[1]}{k}" for k in range(min(int(ranged[2]), 4))] if ranged else [name]
    return found or ["%r1"]


def _in_statement(change):
    """The damage of one statement of the text: `change` gets guard, mnemonic, operands, the text, rng."""

    def damage(text: str, other: str, rng: Random) -> str:
        statements = list(_STATEMENT.finditer(text))
        if not statements:
            return text
        found = rng.choice(statements)
        guard, mnemonic, operands = change(found[1] or "", found[2], _split(found[3]), text, rng)
        new = f"{guard} {mnemonic} {', '.join(operands)};".strip()
        return text[: found.start()] + new + text[found.end() :]

    return damage


@_in_statement
def _other_operand(guard, mnemonic, operands, text, rng):
    """A register of any type, an immediate, an address, a vector, a name, another operand."""
    if operands:
        some = rng.choice(_names(text))
        operands[rng.randrange(len(operands))] = rng.choice(
            [some, some, some, rng.choice(_IMMEDIATES), f"-{some}", f"!{some}", f"[{some}]",
                f"[{some}+{rng.choice(_IMMEDIATES)}]",
             "{" + ", ".join(rng.choices(_names(text), k=rng.choice((0, 1, 2, 3, 4, 8)))) + "}",
             f"{some}|{rng.choice(_names(text))}", "nothing", "_",
             f"{some}.{rng.choice(('x', 'b0', 'h1', 'lo', 'b4321'))}", rng.choice(operands), "k", "p0", "%tid.x",
             "%clock64", "gvar", "svar+4", f"({some})",
             f"[{some}, {{{some}}}]", f"[gvar, {some}]"]
        )  # fmt: skip
    return guard, mnemonic, operands


@_in_statement
def _number_of_operands(guard, mnemonic, operands, text, rng):
    kind = rng.randrange(4)
    if kind == 0 and operands:
        del operands[rng.randrange(len(operands))]
    elif kind == 1:
        operands.insert(rng.randrange(len(operands) + 1), rng.choice([*_names(text), *_IMMEDIATES]))
    elif kind == 2 and len(operands) > 1:
        first, second = rng.sample(range(len(operands)), 2)
        operands[first], operands[second] = operands[second], operands[first]
    else:
        operands = operands * 3
    return guard, mnemonic, operands


@_in_statement
def _inside_operand(guard, mnemonic, operands, text, rng):
    """One register or number within an operand is another one; elements of vectors come and go."""
    if operands:
        at = rng.randrange(len(operands))
        words = list(re.finditer(r"%?\w+", operands[at]))
        if words:
            word = rng.choice(words)
            new = rng.choice(
                [rng.choice(_names(text)), rng.choice(_IMMEDIATES), f"{word[0]}, {word[0]}", "", "%undefined"]
            )
            operands[at] = operands[at][: word.start()] + new + operands[at][word.end() :]
    return guard, mnemonic, operands


@_in_statement
def _own_modifiers(guard, mnemonic, operands, text, rng):
    """Modifiers out of the opcode's own vocabulary, dropped, added, replaced, in another order."""
    opcode, *modifiers = mnemonic.split(".")
    words = _vocabulary(opcode) if rng.random() < 0.8 else _VOCABULARY
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.randrange(4)
        at = rng.randrange(len(modifiers) + 1)
        if kind == 0:
            modifiers[at : at + 1] = []
        elif kind == 1:
            modifiers.insert(at, rng.choice(words))
        elif kind == 2:
            modifiers[at : at + 1] = [rng.choice(words)]
        else:
            rng.shuffle(modifiers)
    return guard, ".".join([opcode, *modifiers]), operands


@_in_statement
def _guard(guard, mnemonic, operands, text, rng):
    return (
        rng.choice(["@%p1", "@!%p1", "@%p0", f"@{rng.choice(_names(text))}", "@%undefined", "@!%p0"]),
        mnemonic,
        operands,
    )


@_in_statement
def _opcode(guard, mnemonic, operands, text, rng):
    family = rng.choice(list(families().values()))
    statements = _STATEMENT.findall(rng.choice(family.forms))
    return (guard, rng.choice(statements)[1], operands) if statements else (guard, mnemonic, operands)


@_in_statement
def _foreign(guard, mnemonic, operands, text, rng):
    """A statement of another family, whose names may not be there."""
    family = rng.choice(list(families().values()))
    statements = _STATEMENT.findall(rng.choice(family.forms))
    if not statements:
        return guard, mnemonic, operands
    guard, mnemonic, operands = rng.choice(statements)
    return guard, mnemonic, _split(operands)


def _declaration(text: str, other: str, rng: Random) -> str:
    """Registers and variables of other types and numbers, twice, or gone."""
    found = list(re.finditer(r"\.(?:reg|shared|local|global|const|param)\b[^;()]*;", text))
    if not found:
        return text
    declared = rng.choice(found)
    new = rng.choice(
        [
            "",
            declared[0] * 2,
            re.sub(r"\.(pred|[bus]\d+|f\d+)\b", f".{rng.choice(_KINDS.split())}", declared[0], count=1),
            re.sub(r"<\d+>", f"<{rng.choice((0, 1, 70000, 2**20, 2**40))}>", declared[0], count=1),
            re.sub(
                r"\.(reg|shared|local|global|const|param)\b",
                f".{rng.choice(('reg', 'shared', 'local', 'global', 'const', 'param'))}",
                declared[0],
                count=1,
            ),
            re.sub(r"\.align \d+", f".align {rng.choice((0, 1, 3, 16, 4096, 8192, 2**70))}", declared[0]),
            re.sub(
                r"\[\d*\]", rng.choice(("", "[]", "[0]", "[-1]", "[4294967296]", "[2][3]", "[99999999]")), declared[0]
            ),
            declared[0].replace(" ", f" .v{rng.choice((2, 3, 4))} ", 1),
        ]
    )
    return text[: declared.start()] + new + text[declared.end() :]


_LINES = (
    ".version 9.0", ".target sm_50", ".address_size 32", ".reg .b32 %r1;", ".reg .pred %p<5>;", ".visible .entry k() { "
        "ret; }", ".func f(.param .b32 "
        "x) { ret; }", ".maxntid 32",
    "L: L2: bra L;", "bra NOWHERE;", "call f;", "call (%r1), callee, (%r2);", "call callee, (%r1, %r2);",
    "call (%r1, %r2), "
        "callee, (1);", "call nothing, ();", "call %r1, (), P9;",
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], 1; call (b), callee, (a); "
        "}", "{ .param .b32 a; st.param.b32 [a], 1; call callee, (a); }",
    "brx.idx %r1, NOWHERE;", "T9: .branchtargets L, NOWHERE; brx.idx %r1, "
        "T9;", "T8: .branchtargets T8; brx.idx %r1, T8;", ".shared .b8 big[300000];", ".local .b8 deep[600000];",
    ".param .b32 loose;", "ld.param.b32 %r1, "
        "[nothing];", "st.param.b32 [p0], %r1;", "mov.u64 %d1, NOWHERE;", "mov.u64 %d1, k;", "ret; ret;",
        "exit; bra.uni L;", ".loc 1 2 3", ".loc 9 0 0",
    ".loc 1 4294967296 1, function_name X, inlined_at 1 2 "
        "3", ".section .debug { .b8 1 }", "{ { { } } }", "{", "}", "call (), callee, ();", "alloca.u64 %d1, -8;",
        "alloca.u64 %d1, 99999999;",
    "ld.param.u64 %d1, "
        "[p0+100000];", "ld.const.b32 %r1, [cvar+-4];", "mov.b32 %r1, {%h1, %h1, "
            "%h1};", "bar.sync 16;", "bar.sync 0, 33;", "setmaxnreg.inc.sync.aligned.u32 7;",
    ".reg .b64 %live<300>;", "mov.u32 %r2, %r2;", "@%p1 ret;", "@!%p1 exit;", "trap;",
)  # fmt: skip


def _line(text: str, other: str, rng: Random) -> str:
    """A line that does not belong where it stands."""
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines)), rng.choice(_LINES))
    return "\n".join(lines)


def _many_live(text: str, other: str, rng: Random) -> str:
    """More values alive at once than registers, around what was there."""
    end = text.rfind("ret;")
    start = text.find("{", text.find(".entry"))
    if end < 0 or start < 0:
        return text
    kind, count = rng.choice((("b32", 300), ("b64", 64), ("b64", 140), ("b128", 40), ("pred", 30), ("b16", 100)))
    loads = {
        "b32": "mov.u32 %live{}, %tid.x;", "b64": "mov.u64 %live{}, {};", "b128": "mov.b128 %live{}, {{0, 1}};",
        "pred": "setp.eq.u32 %live{}, 1, {};",
        "b16": "mov.u16 %live{}, {};",
    }[kind]  # fmt: skip
    stores = {"pred": "@%live{} st.global.b8 [%home], 1;"}.get(kind, f"st.global.{kind} [%home], %live{{}};")
    before = f".reg .b64 %home; mov.u64 %home, 0; .reg .{kind} %live<{count}>;\n" + "\n".join(
        loads.format(k, k) for k in range(count)
    )
    after = "\n".join(stores.format(k) for k in range(count))
    return text[: start + 1] + "\n" + before + "\n" + text[start + 1 : end] + after + "\n" + text[end:]


DAMAGES = (
    _other_operand, _other_operand, _other_operand, _number_of_operands, _inside_operand, _inside_operand,
    _own_modifiers, _own_modifiers, _own_modifiers, _guard, _opcode, _foreign,
    _declaration, _line,
)  # fmt: skip
RARE = (_many_live,)


def damage(text: str, other: str, rng: Random) -> str:
    """The text with one to three things wrong."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(RARE if rng.random() < 0.02 else DAMAGES)(text, other, rng)
    return text
