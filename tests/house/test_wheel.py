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
from gpuprof.jit.build import lines
from gpuprof.jit.processor import levels
from tests.paths import ROOT, SAMPLES

pytestmark = pytest.mark.long
PACKAGE = ROOT / "gpuprof"
VERSION = gpuprof.__version__
OF_A_CHECKOUT = {"__pycache__", "shipped"}


def package_files() -> set[str]:
    paths = (path for path in PACKAGE.rglob("*") if path.is_file() and not OF_A_CHECKOUT & {*path.parts})
    return {path.relative_to(ROOT).as_posix() for path in paths}


def code_files() -> set[str]:
    """The files of machine code that a wheel has."""
    return {f"gpuprof/jit/shipped/{line.facts().file_name(cpu)}" for line in lines() for cpu in levels()}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    shutil.copytree(PACKAGE, tree / "gpuprof", ignore=shutil.ignore_patterns(*OF_A_CHECKOUT))
    for name in ("docs", "samples"):
        shutil.copytree(ROOT / name, tree / name)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE"):
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
        marks = archive.read(f"gpuprof-{VERSION}.dist-info/WHEEL").decode()
        licence = archive.read(f"gpuprof-{VERSION}.dist-info/licenses/LICENSE")
    assert {name for name in names if ".dist-info/" not in name} == package_files() | code_files()
    assert wheel.name == f"gpuprof-{VERSION}-py3-none-{sysconfig.get_platform().replace('-', '_')}.whl"
    assert "\nTag: py3-none-" in marks and "\nRoot-Is-Purelib: false\n" in marks
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
    removed = ("PYTHONPATH", "NUMBA_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    environment["GPUPROF_CACHE"] = str(tmp_path / "cache")

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
    assert not list(packages.rglob("__pycache__/*.code")), "the wheel's own code was not used"


def test_a_wheel_of_another_user_that_nobody_can_write_to_runs_in_a_folder_with_a_blank(built, tmp_path):
    """Built in one place, it is unpacked in another and read-only; two runs at once compile nothing."""
    (wheel,) = built.glob("*.whl")
    packages = tmp_path / "site packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for path in (*packages.rglob("*"), packages):
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = os.environ | {"PYTHONPATH": str(packages), "GPUPROF_CACHE": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-m", "gpuprof", "collect", str(SAMPLES / "saxpy.cu"), "-o"]
    runs = [
        subprocess.Popen([*command, f"{name}.gprec"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    assert [run.communicate(timeout=300)[1] for run in runs] == ["", ""]
    assert [run.returncode for run in runs] == [0, 0]
    assert not (tmp_path / "cache" / "compiled").exists()
    assert not list(packages.rglob("__pycache__/*.code"))
