"""Programs that check their own results: each prints PASS and ends with 0.

A line `// run: WORDS` of a program says what stands behind its name on the command line.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program.hosts import WHY_NOT

FOLDER = Path(__file__).parent / "checked"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))
WORDS = re.compile(r"^// run: (.*)$", re.MULTILINE)
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_program_passes_its_own_check(name):
    words = WORDS.search((FOLDER / f"{name}.cu").read_text())
    command = [sys.executable, "-m", "gpuprof", "run", f"{name}.cu", *shlex.split(words[1] if words else "")]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.returncode) == ("PASS\n", 0), done.stderr
