"""The launches of a file, from the command line, from comments in its source, or from the sources that a gpubin
carries.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gpuprof.base.inputs import PTX, SOURCE, read_input, read_input_text
from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.expected_results import parse_comparison
from gpuprof.device.launching.launch_text import find_launch_comments, parse_launch
from gpuprof.errors import UsageError


def command_line_requests(texts: Iterable[str]) -> list[LaunchRequest]:
    return [parse_launch(text, "--launch") for text in texts]


def comment_requests(file: Path) -> list[LaunchRequest]:
    """The launches that a source file names in its comments."""
    if file.suffix == ".gpubin":
        return []
    if file.suffix == ".ptx":
        from gpuprof.compile.ptxfile import ptx_text  # which knows more encodings

        return _parse_comments(ptx_text(read_input(file, PTX)), str(file))
    return _parse_comments(read_input_text(file, SOURCE, errors="replace"), str(file))


def embedded_requests(file: Path, sources: dict[str, str], kernels: Iterable[str]) -> list[LaunchRequest]:
    """The launches named in the sources (path -> text) that a gpubin carries. Raises UsageError when there are none."""
    requests = [request for path, text in sorted(sources.items()) for request in _parse_comments(text, path)]
    if not requests:
        raise UsageError(
            f"{file}: nothing to launch; give --launch 'kernel<<<grid, block>>>(arguments)', or a comment `// "
            f"LAUNCH: ...` in the source (kernels: {', '.join(kernels) or 'none'})"
        )
    return requests


def _parse_comments(text: str, place: str) -> list[LaunchRequest]:
    """A comment with only a comparison belongs to the launch before it."""
    requests: list[LaunchRequest] = []
    for line, comment in find_launch_comments(text):
        here = f"{place}:{line}"
        if "<<<" in comment or "==" not in comment:
            requests.append(parse_launch(comment, here))
            continue
        comparison = parse_comparison(comment, here)
        if not requests:
            raise UsageError(f"{here}: a comparison must follow the launch whose result it is about\n    {comment}")
        requests[-1] = replace(requests[-1], expected=(*requests[-1].expected, comparison))
    return requests
