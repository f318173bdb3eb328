"""Damages PTX and asks what becomes of it. `python -m tests.fuzz.ptx_fuzz SECONDS [SEED]` runs as long as it is told.

A text is damaged token by token (dropped, doubled, swapped, replaced by another text's), line by line, byte by byte, or
by its grammar (`ptx_grammar`). The assembler, told to use any number of registers, then either gives a program, whose
object file reads back the same, or raises an error that names a line and a column, within a few seconds; what assembles
also runs: to its end, or to a fault. Any other exception is a finding, and so is a warning of numpy's that would reach
the terminal.
"""

import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from gpuprof.assemble import assemble as assembler
from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.errors import GpuprofError, KernelFault, PtxError, UnsupportedInstruction
from gpuprof.isa.gpubin.reader import read_gpubin
from tests.fuzz import ptx_grammar
from tests.fuzz.ptx_mixes import memory_image
from tests.paths import TESTS
from tests.support.gpubin_programs import assert_equal
from tests.support.ptx_support import kernel_text, ptx_module, run_kernel

LIMIT_S = 10
ODD = [
    "{", "}", "(", ")", "[", "]", ",", ";", ":", "@", "!", "-", "+", "|", "<", ">", "%", "_", "0", "1", "-1",
    "4294967295", "18446744073709551616",
    "99999999999999999999999", "0x", "0fFFFFFFFF", "0dFFF8000000000000", "1e999", "%r0", "%rd1", "%p1", "%f1", "%fd1",
    "%tid.x", "%clock64",
    ".reg", ".pred", ".b8", ".b32", ".u64", ".f16x2", ".entry", ".func", ".param", ".shared", ".local", ".global",
    ".const", ".align", ".v4",
    ".v2", ".visible", ".extern", ".maxntid", ".loc", ".file", ".version", ".target", "bra", "call", "ret",
    "ld.global.u32", "st.shared.v4.f32",
    "mov.b64", "add.s32", "bar.sync", "%r<999999999>", "%r<-1>", "[%rd1+-9223372036854775808]", "WARP_SZ", '"a\\', "/*",
    "//", "\0", "é", "\u202e",
]  # fmt: skip
TOKEN = re.compile(r"\s+|[\w$%.:]+|.", re.S)


def corpus() -> list[str]:
    """Whole PTX texts: those stored with the tests, and one small kernel an instruction family."""
    stored = sorted((TESTS / "ptx").rglob("*.ptx"))
    return [path.read_text(encoding="utf-8", errors="replace") for path in stored if path.stat().st_size < 60_000] + [
        kernel_text(body) for body in BODIES
    ]


BODIES = [
    "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 "
        "%r2, [%rd3]; add.s32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;",
    "mov.u32 %r1, %tid.x; L: setp.lt.u32 %p1, %r1, 9; @%p1 add.u32 %r1, %r1, 1; @%p1 bra L; bar.sync 0; st.shared.u32 "
        "[sarr+4], %r1; shfl.sync.idx.b32 %r2|%p2, %r1, 3, 31, -1; vote.sync.ballot.b32 %r3, %p1, -1;",
    "{ .param .b32 q; st.param.b32 [q], 1; } mov.u64 %rd1, loc; cvta.local.u64 %rd1, %rd1; st.u64 [%rd1+8], %rd1; "
        "ld.f32 %f1, [%rd1]; fma.rn.f32 %f2, %f1, %f1, 0f3F800000; cvt.rzi.s32.f32 %r1, %f2; atom.global.add.u32 "
        "%r2, [gvar], %r1;",
    "ld.param.f32 %f1, [p2]; cvt.f64.f32 %fd1, %f1; div.rn.f64 %fd2, %fd1, 0d4008000000000000; sqrt.rn.f64 %fd3, %fd2; "
        "mov.b64 {%r1, %r2}, %fd3; prmt.b32 %r3, %r1, %r2, 0x5410; lop3.b32 %r4, %r1, %r2, %r3, 0xE8; ld.const.f32 "
        "%f3, [carr+4];",
]  # fmt: skip


class TooSlow(Exception):
    pass


@contextmanager
def limit(seconds: int):
    """Stops what takes longer, in processor time: others may use the machine too."""

    def stop(signum, frame):
        raise TooSlow(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def damage(text: str, other: str, rng: random.Random) -> str:
    """The text with one to four things wrong."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = rng.choice(DAMAGES)(text, other, rng)
    return text


def _tokens(text, other, rng):
    tokens = TOKEN.findall(text)
    solid = [k for k, token in enumerate(tokens) if not token.isspace()]
    if not solid:
        return text
    at, second = rng.choice(solid), rng.choice(solid)
    foreign = rng.choice(TOKEN.findall(other) or [""])
    kind = rng.randrange(6)
    if kind == 0:
        tokens[at] = ""
    elif kind == 1:
        tokens[at] += " " + tokens[at]
    elif kind == 2:
        tokens[at], tokens[second] = tokens[second], tokens[at]
    elif kind == 3:
        tokens[at] = foreign
    elif kind == 4:
        tokens[at] = rng.choice(ODD)
    else:
        tokens[at] += rng.choice(ODD)
    return "".join(tokens)


def _modifiers(text, other, rng):
    """One part of a dotted word is dropped, doubled or taken from elsewhere."""
    words = list(re.finditer(r"[a-z]\w*(?:\.\w+)+", text))
    if not words:
        return text
    word = rng.choice(words)
    parts = word.group().split(".")
    foreign = re.findall(r"\.(\w+)", other) or ["x"]
    at = rng.randrange(1, len(parts))
    parts[at : at + 1] = rng.choice([[], [parts[at]] * 2, [rng.choice(foreign)], [parts[at], rng.choice(foreign)]])
    return text[: word.start()] + ".".join(parts) + text[word.end() :]


def _lines(text, other, rng):
    lines, foreign = text.split("\n"), other.split("\n")
    at = rng.randrange(len(lines))
    size = rng.choice((1, 1, 3, 20))
    lines[at : at + size] = rng.choice([[], lines[at : at + size] * 2, foreign[rng.randrange(len(foreign)) :][:size]])
    return "\n".join(lines)


def _characters(text, other, rng):
    at = rng.randrange(len(text) + 1)
    return (
        text[:at] + rng.choice(["", chr(rng.randrange(256)), "\ufffd", rng.choice(ODD)]) + text[at + rng.randrange(3) :]
    )


def _cut(text, other, rng):
    return text[: rng.randrange(len(text) + 1)]


def _number(text, other, rng):
    numbers = list(re.finditer(r"\b\d+\b", text))
    if not numbers:
        return text
    number = rng.choice(numbers)
    value = rng.choice([0, 1, 3, 7, 31, 33, 255, 256, 65536, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 10**30, -1])
    return text[: number.start()] + str(value) + text[number.end() :]


DAMAGES = (_tokens, _tokens, _modifiers, _modifiers, _lines, _characters, _cut, _number, _number)


PLACE = re.compile(r"k\.ptx:\d+:\d+: |(k\.ptx|.+):\d+: unsupported ")
REGISTERS = (None, None, 255, 128, 64, 40, 32, 24, 17, 16)


def judge(text: str, *, run: bool = True) -> str:
    """What became of a text: "refused", "unsupported", "assembled", "ran" or "faulted". Raises whatever is a
    finding.
    """
    with limit(LIMIT_S), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            program = assembler.assemble_program(
                ptx_module(text), max_registers=REGISTERS[zlib.crc32(text.encode("utf-8", "replace")) % len(REGISTERS)]
            )
        except PtxError as error:
            first = str(error).split("\n")[0]
            assert PLACE.match(first) or not text.strip(), f"no place in: {first}"
            return "unsupported" if isinstance(error, UnsupportedInstruction) else "refused"
        data = write_gpubin(program)
        assert_equal(read_gpubin(data, "k.gpubin"), program)
        return _run(program) if run else "assembled"


def _run(program) -> str:
    """Launches a kernel; what is an integer of 64 bits among its parameters is the address of an array."""
    kernel = next((f for f in program.functions if f.is_kernel and f.name == "k"), None)
    if kernel is None or kernel.shared_nbytes > 1 << 18 or sum(param.nbytes for param in kernel.params) > 4096:
        return "assembled"
    values = {8: memory_image(0), 4: 3}
    arguments = [
        values[p.nbytes] if p.nbytes in values and p.type[0] in "usb" else lambda _, n=p.nbytes: bytes(n)
        for p in kernel.params
    ]
    try:
        run_kernel(program, kernel.name, arguments, block=64, max_warp_instructions=20_000)
    except KernelFault:
        return "faulted"
    except GpuprofError:
        return "assembled"
    return "ran"


def rounds(seed: int, texts: list[str]):
    """(number, damaged text) without end, the same for the same seed."""
    number = 0
    while True:
        rng = random.Random(f"{seed}:{number}")
        if number % 4 == 0:
            yield number, damage(rng.choice(texts), rng.choice(texts), rng)
        elif number % 4 == 1:
            yield number, damage(ptx_grammar.text_of_forms(rng), rng.choice(texts), rng)
        else:
            text = ptx_grammar.text_of_forms(rng) if rng.random() < 0.8 else rng.choice(texts)
            yield number, ptx_grammar.damage(text, "", rng)
        number += 1


class Finding(NamedTuple):
    number: int  # of the case: `rounds` makes its text again
    message: str
    text: str


def kind_of(error: Exception) -> str:
    """Findings with the same text have one cause."""
    if isinstance(error, AssertionError):
        return re.sub(r"\d+:\d+", "N", str(error)[:90])
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/gpuprof/" in frame.filename] or frames
    where = ours[0 if isinstance(error, RecursionError) else -1]
    return f"{type(error).__name__} {Path(where.filename).name}:{where.lineno} {where.name}"


def hunt(cases: Iterable[tuple[int, str]]) -> tuple[dict[str, int], dict[str, Finding]]:
    """(cases by outcome, the first finding of each kind). A finding does not end the hunt."""
    counts: dict[str, int] = Counter()
    findings: dict[str, Finding] = {}
    for number, text in cases:
        try:
            counts[judge(text)] += 1
        except Exception as error:
            counts["FOUND"] += 1
            findings.setdefault(kind_of(error), Finding(number, str(error)[:160], text))
    return counts, findings


def main(seconds: float, seed: int) -> None:
    """Prints each kind of finding once, with its text in a file of the folder build/fuzz."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # what wants more gets MemoryError, which is a finding
    folder = Path("build/fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    counts, findings = hunt(takewhile(lambda _: time.monotonic() < end, rounds(seed, corpus())))
    for kind, finding in findings.items():
        path = folder / f"{seed}-{finding.number}.ptx"
        path.write_text(finding.text, encoding="utf-8", errors="surrogatepass")
        print(f"{path}: {kind}: {finding.message}")
    print(f"{sum(counts.values())} cases: {dict(counts)}; {len(findings)} kinds of findings")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
