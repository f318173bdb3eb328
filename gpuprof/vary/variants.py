"""The variants of a plan: every combination of the values, and before them the file as it is."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprof.base.wording import plural
from gpuprof.chips import Chip, load_chip
from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.launch_requests import command_line_requests
from gpuprof.errors import UsageError
from gpuprof.hosts import Host, load_host
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.target import SCRIPT, STREAM, Launches, Program
from gpuprof.sweep.sweep_plan import Plan, Run, file_requests, with_values
from gpuprof.vary.block_sizes import with_block
from gpuprof.vary.parameters import KINDS, NONE, Varied, check_titles, extent
from gpuprof.vary.source_edits import bounded, defines_itself, padded, source_text

GRID, HALVING = "grid", "halving"
MOST_OF_GRID = 16  # variants that are all timed whole, when nothing is said
MOST_VARIANTS = 4096
ORIGINAL = 0  # number of the file as it is


@dataclass(frozen=True)
class VaryPlan:
    """`base`: the file and everything that does not vary; it has one chip. `compared`: names of arrays, all when empty.
    `tolerance`: relative, None for the same bytes. `jobs`: processes, None for as many as cores.
    """

    base: Plan
    varied: tuple[Varied, ...]
    search: str = ""  # GRID or HALVING; "": by the number of variants
    compared: tuple[str, ...] = ()
    tolerance: float | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class Variant:
    """`values`: a text for each parameter of the plan, () of the original. `arguments`: of a script or a program."""

    run: Run
    values: tuple[str, ...]
    arguments: tuple[str, ...]

    @property
    def number(self) -> int:
        return self.run.number


def search_of(plan: VaryPlan, count: int) -> str:
    """How so many variants, besides the original, are searched."""
    return plan.search or (GRID if count <= MOST_OF_GRID else HALVING)


def variants_of(plan: VaryPlan) -> list[Variant]:
    """The original, and every combination of values, the last parameter fastest. Raises UsageError for a parameter that
    has no effect on the file, or that cannot be changed in it.
    """
    _check(plan)
    chip = load_chip(plan.base.chips[0])
    host = load_host(plan.base.host) if plan.base.host else None
    chosen = list(itertools.product(*(each.texts for each in plan.varied)))
    source = _Source(plan.base.file)
    original = _defaults(plan)
    made = [_variant(plan, ORIGINAL, (), original, chip, host, source)]
    for number, values in enumerate(chosen, 1):
        picked = dict(zip(plan.varied, values, strict=True))
        made.append(_variant(plan, number, values, picked, chip, host, source))
    return made


def _check(plan: VaryPlan) -> None:
    base = plan.base
    if not plan.varied:
        raise UsageError("nothing is varied; give --vary, as in --vary block=64,128,256")
    if base.file.suffix == STREAM:
        raise UsageError(
            f"{base.file}: a recording has launches, but no source to compile; give the file it was made of"
        )
    check_titles(plan.varied)
    count = 1
    for each in plan.varied:
        count *= len(each.texts)
    if count > MOST_VARIANTS:
        raise UsageError(f"--vary: {plural(count, 'variant', 'variants')}, at most {MOST_VARIANTS:,}")
    for each in plan.varied:
        _check_effect(base, each)
    _check_macros(base, plan.varied)
    if plan.tolerance is not None and not isinstance(base.target, Launches):
        raise UsageError(
            f"{base.file}: the types of what it copies to the host are not known, so --tolerance means nothing; leave "
            "it out"
        )


def _check_effect(base: Plan, varied: Varied) -> None:
    """Raises UsageError for a parameter that does nothing to a file of this kind."""
    kind = KINDS[varied.kind]
    if kind.of_launches and not isinstance(base.target, Launches):
        what = "a program" if isinstance(base.target, Program) else "a script"
        raise UsageError(
            f"--vary {varied.title}: {base.file} is {what}, which launches its kernels itself; vary a macro or an "
            "argument: --vary D.NAME=A,B with {NAME} after --"
        )
    if varied.kind == "config" and base.file.suffix != SCRIPT:
        raise UsageError(
            f"--vary config: {base.file} is no script, and only scripts launch Triton's kernels; leave it out"
        )
    is_built = isinstance(base.target, Program) and base.target.is_built
    if base.file.suffix not in kind.suffixes or (is_built and varied.kind != "D"):
        raise UsageError(f"--vary {varied.title}: {base.file} is already compiled, so it has no effect; leave it out")
    if varied.kind == "D" and base.file.suffix == ".py" and not _is_mentioned(base.script_args, varied.name):
        raise UsageError(
            f"--vary {varied.title}: a script has no macros; name {{{varied.name}}} in its arguments after --"
        )


def _check_macros(base: Plan, varied: Sequence[Varied]) -> None:
    """Raises UsageError for a macro that the source defines anyway: -D would have no effect on it."""
    macros = [each.name for each in varied if each.kind == "D"]
    if macros and base.file.suffix in (".cu", ".cuh"):
        source = source_text(base.file)
        for name in macros:
            if line := defines_itself(source, name):
                raise UsageError(
                    f"--vary D.{name}: {base.file.name}:{line} defines {name} in any case; put `#ifndef {name}` before "
                    "it and `#endif` after it"
                )


def _is_mentioned(texts: Sequence[str], name: str) -> bool:
    return any(f"{{{name}}}" in text for text in texts)


def _defaults(plan: VaryPlan) -> dict[Varied, str]:
    """The values of the original, where it cannot do without: a macro that launches or arguments name has the value of
    -D, or else its first one.
    """
    given = dict(text.partition("=")[::2] for text in plan.base.options.defines)
    texts = (*plan.base.launches, *plan.base.script_args)
    return {
        each: given.get(each.name, each.texts[0])
        for each in plan.varied
        if each.kind == "D" and _is_mentioned(texts, each.name)
    }


def _variant(
    plan: VaryPlan,
    number: int,
    values: tuple[str, ...],
    picked: Mapping[Varied, str],
    chip: Chip,
    host: Host | None,
    source: "_Source",
) -> Variant:
    base = plan.base
    defines = {each.name: text for each, text in picked.items() if each.kind == "D"}
    requests = _requests(base, picked, defines)
    text = source.changed(picked, requests)
    options = _options(base, picked, defines)
    arguments = tuple(_filled(argument, defines) for argument in base.script_args)
    return Variant(Run(number, chip, host, (), defines, options, requests, text), values, arguments)


def _requests(base: Plan, picked: Mapping[Varied, str], defines: Mapping[str, str]) -> tuple[LaunchRequest, ...]:
    if not isinstance(base.target, Launches):
        return ()
    texts = [with_values(text, defines, "--vary D.NAME=...") for text in base.launches]
    requests = tuple(command_line_requests(texts)) or file_requests(base)
    for varied, value in picked.items():
        if varied.kind == "block":
            _check_kernel(varied, requests, base.file)
            requests = tuple(
                with_block(request, extent(value)) if _means(varied, request) else request for request in requests
            )
    return requests


def _filled(argument: str, defines: Mapping[str, str]) -> str:
    """The argument of a script or a program with {NAME} replaced; braces of other names are its own."""
    for name, text in defines.items():
        argument = argument.replace(f"{{{name}}}", text)
    return argument


def _check_kernel(varied: Varied, requests: Sequence[LaunchRequest], file: Path) -> None:
    if not requests:
        raise UsageError(
            f"--vary {varied.title}: {file}: its launches are not known; give --launch 'kernel<<<grid, "
            "block>>>(arguments)', or a comment `// LAUNCH: ...` in the source"
        )
    if varied.name and not any(_means(varied, request) for request in requests):
        names = ", ".join(dict.fromkeys(request.kernel for request in requests))
        raise UsageError(f"--vary {varied.title}: no launch is of a kernel {varied.name}; there are: {names}")


def _means(varied: Varied, request: LaunchRequest) -> bool:
    """True where a parameter is about a launch: it names its kernel, with or without template arguments, or none."""
    return varied.name in ("", request.kernel, request.kernel.partition("<")[0])


# What a value is among the options of the compiler.
_OPTIONS = {
    "max_registers": lambda text: {"max_registers": None if text == NONE else int(text)},
    "compiler": lambda text: {"compiler": text},
    "opt": lambda text: {"optimize": int(text[1:])},
    "std": lambda text: {"standard": text},
    "use_fast_math": lambda text: {"fast_math": text == "yes"},
    "config": lambda text: {"triton_config": text},
}


def _options(base: Plan, picked: Mapping[Varied, str], defines: Mapping[str, str]) -> BuildOptions:
    """The plan's options with these values; a macro's replaces that of -D."""
    if base.file.suffix == ".py":
        defines = {}
    kept = [text for text in base.options.defines if text.partition("=")[0] not in defines]
    changed = {"defines": (*kept, *(f"{name}={text}" for name, text in defines.items()))}
    for varied, text in picked.items():
        if varied.kind in _OPTIONS:
            changed |= _OPTIONS[varied.kind](text)
    return replace(base.options, **changed)


class _Source:
    """The text of the file, which is read where a parameter changes it."""

    def __init__(self, file: Path):
        self.file = file
        self._text: str | None = None

    def changed(self, picked: Mapping[Varied, str], requests: Sequence[LaunchRequest]) -> str | None:
        """The text with the values of `pad` and `min_blocks`; None where it stays as it is."""
        edits = {varied: text for varied, text in picked.items() if varied.kind in ("pad", "min_blocks")}
        if not edits:
            return None
        if self._text is None:
            self._text = source_text(self.file)
        text = self._text
        for varied, value in edits.items():
            text = self._edited(text, varied, value, requests)
        return text if text != self._text else None

    def _edited(self, text: str, varied: Varied, value: str, requests: Sequence[LaunchRequest]) -> str:
        if varied.kind == "pad":
            return padded(text, varied.name, int(value), self.file.name)
        _check_kernel(varied, requests, self.file)
        threads: dict[str, int] = {}
        for request in requests:
            x, y, z = request.config.block
            if _means(varied, request):
                kernel = request.kernel.partition("<")[0]
                threads[kernel] = max(threads.get(kernel, 0), x * y * z)
        for kernel, most in threads.items():
            if value != NONE:
                text = bounded(text, kernel, most, int(value), self.file.name)
        return text
