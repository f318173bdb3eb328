"""Advice in few words, for a reader that pays by the word: stable keys, and the command that verifies."""

import shlex
from collections.abc import Iterator, Sequence

from gpuprof.advise.advise import Advised
from gpuprof.whatif.rows import label

MOST_CHARACTERS = 2_400  # of a kernel


def brief(found: Sequence[Advised], file: str) -> str:
    return "\n\n".join(_kernel(each, file) for each in found)


def _kernel(kernel: Advised, file: str) -> str:
    head = [f"kernel: {kernel.chosen.kernel}", f"launch: {kernel.launch}", f"cycles: {kernel.chosen.cycles}"]
    if kernel.fidelity:
        head.append(f"fidelity: {kernel.fidelity}")
    if not kernel.advice:
        head.append("advice: none gains 2%")
    text = "\n".join(head)
    for block in _blocks(kernel, file):
        if len(text) + len(block) + 1 > MOST_CHARACTERS:
            break
        text += "\n" + block
    return text


def _blocks(kernel: Advised, file: str) -> Iterator[str]:
    for number, each in enumerate(kernel.advice, 1):
        draft = each.draft
        lines = {
            f"{number}": draft.topic,
            "at": draft.place,
            "gain": f"{each.speedup:.2f}x ({each.cycles_after} cycles, measured with {measured_with(each)})",
            "evidence": draft.evidence,
            "change": draft.change,
            "sketch": draft.sketch,
            "wrong if": draft.refuted_by,
            "verify": verify_command(file, kernel.chosen.kernel),
        }
        yield "\n".join(f"{key}: {text}" for key, text in lines.items() if text)


def measured_with(each) -> str:
    return " + ".join(label(what) for what in each.interventions)


def verify_command(file: str, kernel: str) -> str:
    """The command that shows the cycles of a changed file against those of this one."""
    return shlex.join(["gpuprof", "diff", file, "CHANGED", "--kernel", f"^{kernel}$"])
