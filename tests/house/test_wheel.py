"""What `make wheel` builds is whole, and runs where nothing but its dependencies is installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import gpuprof
from tests.paths import ROOT, SAMPLES

pytestmark = pytest.mark.long
PACKAGE = ROOT / "gpuprof"
VERSION = gpuprof.__version__
COMPILED = ("*.nbi", "*.nbc")  # machine code, for the same text of its sources


def package_files() -> set[str]:
    paths = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in paths}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    shutil.copytree(PACKAGE, tree / "gpuprof", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("docs", "samples"):
        shutil.copytree(ROOT / name, tree / name)
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", tree]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "dist"


def test_the_wheel_has_every_file_of_the_package_and_the_licence(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        facts = archive.read(f"gpuprof-{VERSION}.dist-info/METADATA").decode()
        licence = archive.read(f"gpuprof-{VERSION}.dist-info/licenses/LICENSE")
    assert {name for name in names if ".dist-info/" not in name} == package_files()
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert f"\nVersion: {VERSION}\n" in facts and "\nLicense-Expression: Apache-2.0\n" in facts


def test_the_sdist_has_what_a_wheel_is_built_from_and_the_pages(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert package_files() | pages | {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= names


def test_an_installed_wheel_collects(built, tmp_path):
    """The dependencies are those of this Python, found by a .pth file: nothing is downloaded."""
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True, capture_output=True,
    )  # fmt: skip
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    take_along(packages / "gpuprof")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}

    def run(*arguments: str) -> str:
        command = [tmp_path / "env" / "bin" / "gpuprof", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run(
        [python, "-c", "import gpuprof; print(gpuprof.__file__)"], cwd=tmp_path, capture_output=True, text=True
    )
    assert where.stdout == f"{packages / 'gpuprof' / '__init__.py'}\n"
    assert run("--version").strip().endswith(VERSION)
    assert "saxpy<<<256, 256>>>" in run("collect", str(SAMPLES / "saxpy.cu"), "-o", "saxpy.gprec")
    assert "saxpy.cu" in run("report", "saxpy.gprec", "--page", "source")
    assert run("fidelity").startswith("model ")


def take_along(installed: Path) -> None:
    """Machine code that is there already: compiling the timing model anew takes a minute."""
    for pattern in COMPILED:
        for path in PACKAGE.rglob(pattern):
            copy = installed / path.relative_to(PACKAGE)
            if copy.parent.parent.is_dir():  # else of a folder that is gone
                copy.parent.mkdir(exist_ok=True)
                shutil.copy(path, copy)
