"""The words that start this gpuprof again."""

import os
import subprocess
from pathlib import Path

from gpuprof.base.processes import own_program
from gpuprof.base.wording import installed_version
from tests.paths import ROOT


def version_in(folder: Path, **environment: str) -> str:
    words = [*own_program(), "--version"]
    done = subprocess.run(words, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_files_of_the_working_folder_replace_no_module(tmp_path):
    for name in ("click.py", "gpuprof.py", "random.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    assert version_in(tmp_path).split()[-1] == installed_version()


def test_a_checkout_goes_before_another_gpuprof_of_the_path(tmp_path):
    (tmp_path / "gpuprof").mkdir()
    (tmp_path / "gpuprof" / "__main__.py").write_text("raise SystemExit('the wrong gpuprof')\n")
    assert str(ROOT) in own_program()[-1]
    assert version_in(ROOT, PYTHONPATH=str(tmp_path)).split()[-1] == installed_version()
