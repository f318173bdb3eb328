"""The program: `gpuprof`, or `python -m gpuprof`. Signals are looked after before anything that takes time."""

import sys

from gpuprof.base.dependencies.opened_files import log_opened_files
from gpuprof.base.interrupts import Ended, end_at_once, end_at_signals


def main():
    """The entry point; exit codes are those of `cli.main`, and 128 and its number for a signal."""
    end_at_signals()
    log_opened_files()
    try:
        from gpuprof.cli.main import main

        main()
    except SystemExit:
        end_at_once()
        raise
    except Ended as error:
        _end(error)


def _end(error: Ended) -> None:
    """Says why, in one line. After that only Python's own end is left, where another signal may end it at once."""
    from gpuprof.base.scratch import remove_own_folders

    remove_own_folders()
    print(f"gpuprof: {error}", file=sys.stderr, flush=True)
    end_at_once()
    try:
        sys.stdout.flush()
    except OSError:  # the reader has closed it
        from gpuprof.cli.main import silence_stdout

        silence_stdout()
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
