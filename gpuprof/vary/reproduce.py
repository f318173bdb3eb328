"""The command that measures a variant again, as a line for a shell."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from gpuprof.run.compile_file import DEFAULT_CHIP, DEFAULT_OPTIONS
from gpuprof.run.target import Launches
from gpuprof.vary.block_sizes import as_text
from gpuprof.vary.source_edits import source_text
from gpuprof.vary.variants import Variant, VaryPlan

CHANGED = ".varied.cu"  # the suffix of a source that sed has changed


def command_of(plan: VaryPlan, variant: Variant, original: Variant) -> str:
    """A `gpuprof collect`. Where the source is changed, a `sed` comes first, which writes it next to the file."""
    file = plan.base.file
    measured = file if variant.run.source is None else _changed_file(file)
    words = ["gpuprof", "collect", _argument(measured), *_flags(plan, variant, original)]
    if variant.arguments:
        words += ["--", *variant.arguments]
    return f"{_sed(file, variant.run.source)}{shlex.join(words)}"


def _argument(file: Path) -> str:
    """The file's name, which no command takes for an option."""
    return f"./{file}" if str(file).startswith("-") else str(file)


def _changed_file(file: Path) -> Path:
    return file.with_name(f"{file.stem}{CHANGED}")


def _flags(plan: VaryPlan, variant: Variant, original: Variant) -> Iterator[str]:
    base = plan.base
    for flag, value in (
        ("--chip", None if base.chips[0] == DEFAULT_CHIP else base.chips[0]),
        ("--host", base.host),
        ("--seed", base.seed or None),
        ("--cache", base.cache),
        ("--repeat", base.repeat),
        ("--max-cycles", base.max_cycles),
        ("--max-instructions", base.max_instructions),
    ):
        if value is not None:
            yield from (flag, str(value))
    if base.sample_blocks:
        yield "--sample-blocks"
    yield from _launch_flags(plan, variant, original)
    yield from _compiler_flags(variant)


def _launch_flags(plan: VaryPlan, variant: Variant, original: Variant) -> Iterator[str]:
    """None where the file's own comments say the same."""
    base, requests = plan.base, variant.run.requests
    if base.launches or requests != original.run.requests:
        folder = base.target.folder if isinstance(base.target, Launches) else Path()
        for request in requests:
            yield from ("--launch", as_text(request, folder))


# Field of BuildOptions -> the flag of `collect`. Several values give several flags.
_FLAGS = {
    "compiler": "--compiler",
    "optimize": "-O",
    "standard": "--std",
    "max_registers": "--max-registers",
    "cccl": "--cccl",
    "host_compiler": "--host-compiler",
    "links_device": "--rdc",
    "fast_math": "--use_fast_math",
    "triton_config": "--config",
    "defines": "-D",
    "include_dirs": "-I",
    "libraries": "-l",
    "library_dirs": "-L",
}


def _compiler_flags(variant: Variant) -> Iterator[str]:
    for field, flag in _FLAGS.items():
        value = getattr(variant.run.options, field)
        if value == getattr(DEFAULT_OPTIONS, field):
            continue
        if value is True:
            yield flag
        else:
            for each in value if isinstance(value, tuple) else (value,):
                yield from (flag, str(each))


def _sed(file: Path, source: str | None) -> str:
    """The lines that differ, one command each."""
    if source is None:
        return ""
    before = source_text(file).split("\n")
    edits = [
        f"{number}s/.*/{_replacement(line)}/"
        for number, (old, line) in enumerate(zip(before, source.split("\n"), strict=True), 1)
        if old != line
    ]
    source, target = (shlex.quote(_argument(each)) for each in (file, _changed_file(file)))
    return f"sed {shlex.quote('; '.join(edits))} {source} > {target} && "


def _replacement(line: str) -> str:
    """The text of a line as sed's s/.../.../ takes it."""
    return line.replace("\\", "\\\\").replace("&", "\\&").replace("/", "\\/")
