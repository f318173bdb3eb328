"""`python -m tests.programs_survey.build FLAGS... SOURCES...`: builds a program's host and device code; nothing runs.

The flags are those of `gpuprof run`.
"""

import argparse
import sys
from pathlib import Path

from gpuprof.chips import load_chip
from gpuprof.compile.libraries import AUTO
from gpuprof.errors import CompileError, GpuprofError
from gpuprof.run.compile_file import DEFAULT_CHIP, BuildOptions
from gpuprof.run.program_build import build_whole
from gpuprof.run.program_run import STANDARD


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-I", dest="include_dirs", action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("-l", dest="libraries", action="append", default=[])
    parser.add_argument("--std", dest="standard", default=STANDARD)
    parser.add_argument("--rdc", dest="links_device", action="store_true")
    parser.add_argument("sources", nargs="+", type=Path)
    given = parser.parse_args()
    include_dirs, defines = tuple(given.include_dirs), tuple(given.defines)
    arch = load_chip(DEFAULT_CHIP).arch
    options = BuildOptions(
        include_dirs,
        defines,
        standard=given.standard,
        links_device=given.links_device,
        host_compiler=AUTO,
        libraries=tuple(given.libraries),
    )
    try:
        build_whole(given.sources, options, arch)
    except GpuprofError as error:
        print(error, error.diagnostics if isinstance(error, CompileError) else "", sep="\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
