"""Random kernels out of the tables of PTX forms: a mix of scalar and memory instructions with guards, branches and
loops, defined to the last bit.

Every register starts with values of its own in every lane, read from memory; at the end all of them are written back.
Instructions that wait for other lanes stand where all lanes are; what depends on time or place is left out.
"""

import random
import re

import numpy as np

from tests.forms import memory as ptx_forms_memory, scalar as ptx_forms_scalar

THREADS = 64
COUNTS = {"p": 4, "c": 4, "h": 20, "r": 24, "d": 24, "f": 20, "e": 8, "q": 6}
NBYTES = {"p": 1, "c": 1, "h": 2, "r": 4, "d": 8, "f": 4, "e": 8, "q": 16}
KINDS = {"p": "pred", "c": "b8", "h": "b16", "r": "b32", "d": "b64", "f": "f32", "e": "f64", "q": "b128"}
LOADS = {"c": "u8", "h": "b16", "r": "b32", "d": "b64", "f": "b32", "e": "b64", "q": "b128"}
# What ends the kernel, waits for a block, depends on time or place, or names something else than the registers here.
_LEFT_OUT = re.compile(
    r"\b(ret|exit|trap|brkpt|bra|brx|call|bar|barrier|alloca|stackrestore|stacksave|wait_group|activemask|elect)\b|"
    r"%(clock|globaltimer|smid|nsmid|warpid|nwarpid|pm\d|envreg|gridid|current_graph|reserved|total_smem|aggr_smem|"
    r"dynamic)|%[vw]\b|\.reg|\.pragma|^\s*ld\.local\.b32 %r2, \[(0|16)|cvta|mov\.u64 %d1, (gvar|pstruct)|"
    r"createpolicy\.range|\.nc\b|^ldu|cp\.async.*\[%r|discard"
)
WITH_OTHERS = re.compile(r"\.sync\b|\bmatch\b|\bvote\b|\bredux\b|\bshfl\b")  # all lanes of the warp must be there
_FIXED = {"%r0": "%zero", "%r1": "%one", "%g": "%g", "%s": "%s", "%c": "%c", "%l": "%l", "%p0": "%p0"}
_REGISTER = re.compile(r"(%[a-z]+)(\d*)\b")
_CONSTANTS = (
    "0",
    "1",
    "-1",
    "2",
    "7",
    "31",
    "32",
    "33",
    "63",
    "64",
    "127",
    "255",
    "256",
    "65535",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "-32768",
)


def _scalar() -> list[str]:
    return [form for target in ("sm_80", "sm_86", "sm_90") for form in ptx_forms_scalar.forms(target)]


def _memory() -> list[str]:
    found = []
    for target, forms in ptx_forms_memory.FORMS.items():
        if target != "sm_100":
            found += [
                re.sub(r"%r([01])\b(?=[,;}\]])", lambda m: "%zero" if m[1] == "0" else "%one", form)
                for form in forms
                if not _LEFT_OUT.search(form)
            ]
    return [form.replace("%one", "%all") if WITH_OTHERS.search(form) else form for form in found]


SCALAR, MEMORY = tuple(_scalar()), tuple(_memory())


class Mix:
    """One kernel `k(.param .u64 p0, .param .align 16 .b8 pstruct[32])`; the same seed gives the same text."""

    def __init__(self, seed, length: int, *, share_of_memory: float = 0.2):
        self.random = random.Random(seed)
        self.share_of_memory = share_of_memory
        self.few = self.random.random() < 0.3  # registers that are used again and again, or many that live long
        self.lines: list[str] = []
        self.labels = 0
        self.statements(length, 0)

    def text(self) -> str:
        body = "".join(f"    {line}\n" for line in self.lines)
        used = {name: offset for name, offset in OFFSETS.items() if re.search(rf"{name}\b", body)}
        return _HEAD + "".join(_initial(used)) + body + "".join(_final(used)) + "    ret;\n}\n"

    def statements(self, length: int, depth: int):
        while length > 0:
            kind = self.random.random()
            if depth < 3 and length > 4 and kind < 0.12:
                inner = self.random.randrange(1, min(length, 12))
                (self.branch if kind < 0.08 else self.loop)(inner, depth)
                length -= inner
            else:
                self.instruction(depth)
                length -= 1

    def label(self) -> str:
        self.labels += 1
        return f"N{self.labels}"

    def branch(self, length: int, depth: int):
        skip, end = self.label(), self.label()
        guard = f"{self.random.choice(('', '!'))}%p{self.random.randrange(COUNTS['p'])}"
        self.lines.append(f"@{guard} bra {skip};")
        self.statements(length, depth + 1)
        if self.random.random() < 0.5:
            self.lines.append(f"bra {end};")
            self.lines.append(f"{skip}:")
            self.statements(self.random.randrange(1, 5), depth + 1)
            self.lines.append(f"{end}:")
        else:
            self.lines.append(f"{skip}:")

    def loop(self, length: int, depth: int):
        """Up to three rounds, the number of them the same or different in each lane."""
        start, counter = self.label(), f"%n{depth}"
        self.lines.append(f"and.b32 {counter}, {self.random.choice(('%tid', '%two'))}, 3;")
        self.lines.append(f"{start}:")
        self.statements(length, depth + 1)
        self.lines.append(f"sub.u32 {counter}, {counter}, 1; setp.gt.s32 %again, {counter}, 0;")
        self.lines.append(f"@%again bra {start};")

    def instruction(self, depth: int):
        while True:
            form = self.random.choice(MEMORY if self.random.random() < self.share_of_memory else SCALAR)
            if depth and WITH_OTHERS.search(form):
                continue
            break
        form = self.renamed(form)
        if (
            not form.startswith("@")
            and ";" not in form[:-1]
            and not WITH_OTHERS.search(form)
            and self.random.random() < 0.15
        ):
            form = f"@{self.random.choice(('', '!'))}%p{self.random.randrange(COUNTS['p'])} {form}"
        self.lines.append(form)

    def renamed(self, form: str) -> str:
        """Registers are others than in the table: all different where one instruction writes or reads several in a
        row.
        """
        apart = "{" in form or "|" in form
        new: dict[str, str] = {}

        def rename(match):
            name, number = match.groups()
            kind = name[1:]
            if not number or kind not in COUNTS:
                return match.group()
            old = match.group()
            if old not in new:
                taken = set(new.values()) if apart else set()
                most = min(COUNTS[kind], 5) if self.few and not apart else COUNTS[kind]
                new[old] = self.random.choice([f"%{kind}{k}" for k in range(most) if f"%{kind}{k}" not in taken])
            return new[old]

        form = _REGISTER.sub(rename, form)
        if "{" not in form and "[" not in form and self.random.random() < 0.12:
            form = self.with_constant(form)
        return form

    def with_constant(self, form: str) -> str:
        """One source of an integer instruction becomes a constant."""
        if not re.match(
            r"(add|sub|mul|mad|and|or|xor|shl|shr|min|max|setp|selp|bfe|prmt|lop3|div|rem|shf)\S*\.[usb](16|32|64)\b",
            form,
        ):
            return form
        head, *sources = form.rstrip(";").split(", ")
        places = [k for k, source in enumerate(sources) if re.fullmatch(r"%[hrd]\d+", source)]
        if not places:
            return form
        sources[self.random.choice(places)] = self.random.choice(
            _CONSTANTS[:12] if ".u16" in head or ".s16" in head or ".b16" in head else _CONSTANTS
        )
        return ", ".join([head, *sources]) + ";"


_HEAD = (
    ptx_forms_memory.PROLOGUE.format(target="sm_90").split(".visible .entry")[0]
    + ".visible .entry k(.param .u64 p0, .param .align 16 .b8 pstruct[32])\n{\n    "
    + " ".join(f".reg .{KINDS[kind]} %{kind}<{count}>;" for kind, count in COUNTS.items())
    + """
    .reg .b64 %g, %s, %c, %l, %home; .reg .b32 %tid, %zero, %one, %two, %all, %t, %n<4>; .reg .b16 %byte; .reg .pred %again;
    .local .align 32 .b8 lvar[64];
    ld.param.u64 %home, [p0]; mov.u32 %tid, %tid.x; mov.u64 %s, svar; mov.u64 %c, cvar; mov.u64 %l, lvar;
    mov.u32 %zero, 0; mov.u32 %one, 1; mov.u32 %two, 2; mov.b32 %all, -1;
"""  # noqa: E501
)
OFFSETS: dict[str, int] = {}
_at = 0
for _kind in sorted(COUNTS, key=lambda kind: -NBYTES[kind]):
    for _number in range(COUNTS[_kind]):
        OFFSETS[f"%{_kind}{_number}"] = _at
        _at += NBYTES[_kind]
LANE_NBYTES = (_at + 15) // 16 * 16
SHARED_AREA = 512  # of global memory, which all threads read and write, before the lanes' own
NBYTES_OF_MEMORY = SHARED_AREA + THREADS * LANE_NBYTES


def _initial(used: dict[str, int]):
    """%g points into the area all threads have; %home is the thread's own."""
    yield (
        f"    add.u64 %g, %home, 128; mad.wide.u32 %home, %tid, {LANE_NBYTES}, %home; add.u64 %home, %home, "
        f"{SHARED_AREA};\n"
    )
    for name, offset in used.items():
        kind = name[1]
        if kind == "p":
            yield f"    ld.global.u8 %byte, [%home+{offset}]; and.b16 %byte, %byte, 1; setp.ne.u16 {name}, %byte, 0;\n"
        else:
            yield f"    ld.global.{LOADS[kind]} {name}, [%home+{offset}];\n"
    yield from (f"    st.local.b32 [%l+{k}], {k};\n" for k in range(0, 64, 4))


def _final(used: dict[str, int]):
    for name, offset in used.items():
        kind = name[1]
        if kind == "p":
            yield f"    selp.u16 %byte, 1, 0, {name}; st.global.u8 [%home+{offset}], %byte;\n"
        else:
            yield f"    st.global.{LOADS[kind]} [%home+{offset}], {name};\n"
    yield (
        "    ld.local.b32 %t, [%l+4]; st.shared.b32 [%s+252], %t; ld.shared.b32 %t, [%s+8]; st.global.b32 "
        "[%g+256], %t;\n"
    )


def memory_image(seed) -> np.ndarray:
    """Bytes for the kernel: random, and among the registers many that are small, or special in some format."""
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, NBYTES_OF_MEMORY, np.uint8)
    words = image.view(np.uint32)
    special = np.array(
        [0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000,
            0x7FC00000, 0x00000001, 0x7F800001,
         0x3C003C00, 0x7C007C00, 0x3FF00000, 0x7FF00000, 0x80008000, 0x00010001, 0x42FE0000],
        np.uint32,
    )  # fmt: skip
    chosen = rng.random(words.size) < 0.4
    words[chosen] = rng.choice(special, chosen.sum())
    return image
