"""`python -m tests.warm`: compiles, before the workers of the suite begin, what many tests share. The timing model and
the kernels of the checkers take a minute each, on a core each; workers would wait for one another's. All of it stays on
disk (`gpuprof.jit.cached`), so the next time this takes seconds.
"""

import subprocess
import sys

from tests.paths import ROOT

MODEL = "from gpuprof.timing.first_run import compile_once; compile_once()"
# The first test of each group of kernels: of racecheck, for copies, images and all else, and of initcheck.
FIRST = (
    "tests/checkers/test_async_races.py::test_planted[load_waited]",
    "tests/checkers/test_image_races.py::test_planted[stores_beside_fetch]",
    "tests/checkers/test_racecheck.py::test_pairs_that_have_no_room_are_counted",
    "tests/checkers/test_initcheck.py::test_padding_is_not_told",
)


def main() -> int:
    with subprocess.Popen([sys.executable, "-c", MODEL], cwd=ROOT) as model:
        kernels = subprocess.run([sys.executable, "-m", "pytest", "-q", "--no-header", *FIRST], cwd=ROOT)
    return model.returncode or kernels.returncode


if __name__ == "__main__":
    sys.exit(main())
