"""The part of the build that pyproject.toml has no words for: a wheel has machine code for its platform, which
gpuprof/jit/build.py compiles, and is for any Python.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
NOTE = "gpuprof: nothing is compiled ahead ({}); the first run compiles"


class Build(build_py):
    def run(self):
        super().run()
        if self.editable_mode:  # a checkout: `make` compiles there
            return
        folder = Path(self.build_lib).absolute() / "gpuprof" / "jit" / "shipped"
        # From the sources, not from what is built: the digests of files are those of the same text.
        command = [sys.executable, "-m", "gpuprof.jit.build", "--all", str(folder)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        try:
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(NOTE.format(error), file=sys.stderr)


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel})
