"""Where the launches of a file come from: the command line, comments in its source, or the sources that a gpubin
carries.
"""

from collections.abc import Iterable
from pathlib import Path

from gpuprof.base.text import read_utf8
from gpuprof.device.launching.text import find_launch_comments, parse_launch
from gpuprof.device.launching.values import STARTS, ArraySpec, LaunchRequest, TextureSpec
from gpuprof.errors import UsageError


def command_line_requests(texts: Iterable[str]) -> list[LaunchRequest]:
    return [parse_launch(text, "--launch") for text in texts]


def comment_requests(file: Path) -> list[LaunchRequest]:
    """The launches that a source file names in its comments."""
    if file.suffix == ".gpubin":
        return []
    if file.suffix == ".ptx":
        from gpuprof.compile.ptxfile import ptx_text  # which knows more encodings

        return _parse_comments(ptx_text(file.read_bytes()), str(file))
    return _parse_comments(read_utf8(file, "replace"), str(file))


def embedded_requests(file: Path, sources: dict[str, str], kernels: Iterable[str]) -> list[LaunchRequest]:
    """The launches named in the sources (path -> text) that a gpubin carries. Raises UsageError when there are none."""
    requests = [request for path, text in sorted(sources.items()) for request in _parse_comments(text, path)]
    if not requests:
        raise UsageError(
            f"{file}: nothing to launch; give --launch 'kernel<<<grid, block>>>(arguments)', or a comment `// "
            f"LAUNCH: ...` in the source (kernels: {', '.join(kernels) or 'none'})"
        )
    return requests


def array_files(requests: Iterable[LaunchRequest], folder: Path) -> list[Path]:
    """The .npy files that launches start their arrays from."""
    arguments = [argument for request in requests for argument in request.arguments]
    arrays = [each.array if isinstance(each, TextureSpec) else each for each in arguments]
    starts = [array.start for array in arrays if isinstance(array, ArraySpec)]
    return [folder / start for start in dict.fromkeys(starts) if start not in STARTS]


def _parse_comments(text: str, place: str) -> list[LaunchRequest]:
    return [parse_launch(text, f"{place}:{line}") for line, text in find_launch_comments(text)]
