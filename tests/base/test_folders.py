"""Which folder is chosen for what is kept, and whose it must be."""

import os
import tempfile

import pytest

from gpuprof.base.folders import CacheFolder, cache_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs owners and modes")
ELSEWHERE = 65533  # a user that nobody is


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home, a runtime folder, and a shared folder for temporary files."""
    for name in ("GPUPROF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, variable in (("home", "HOME"), ("runtime", "XDG_RUNTIME_DIR")):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(tmp_path / name))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def mode(path) -> int:
    return path.stat().st_mode & 0o7777


def no_home(places, monkeypatch) -> str:
    """Why there is no folder in it."""
    monkeypatch.setenv("HOME", os.devnull)
    return f"{os.devnull}/.cache/gpuprof: Not a directory"


def temporary(places):
    return places / "tmp" / f"gpuprof-{os.geteuid()}"


def test_the_users_cache_folder_comes_first_and_is_made_for_the_user_alone(places):
    assert cache_folder("compiled", is_executed=True) == CacheFolder(places / "home/.cache/gpuprof/compiled")
    assert mode(places / "home/.cache/gpuprof") == mode(places / "home/.cache/gpuprof/compiled") == 0o700


def test_a_named_folder_is_used_as_it_is_and_machine_code_in_it_only_when_it_is_the_users(places, monkeypatch):
    named = places / "named"
    named.mkdir()
    named.chmod(0o777)
    monkeypatch.setenv("GPUPROF_CACHE", str(named))
    assert cache_folder("ptx", is_executed=False) == CacheFolder(named / "ptx")
    assert (
        cache_folder("compiled", is_executed=True) == CacheFolder(named / "compiled")
        and mode(named / "compiled") == 0o700
    )
    (named / "compiled").chmod(0o777)
    (named / "ptx").chmod(0o777)
    assert cache_folder("ptx", is_executed=False) == CacheFolder(named / "ptx")
    with pytest.raises(OSError, match="others can use it"):
        cache_folder("compiled", is_executed=True)


def test_without_a_home_the_runtime_folder_and_then_a_folder_among_temporary_files(places, monkeypatch):
    why = no_home(places, monkeypatch)
    assert cache_folder("compiled", is_executed=True) == CacheFolder(
        places / "runtime/gpuprof/compiled", (why,), lasts=False
    )
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert cache_folder("compiled", is_executed=True) == CacheFolder(
        temporary(places) / "compiled", (why,), lasts=False
    )
    assert mode(temporary(places)) == 0o700


@pytest.mark.parametrize("bits", [0o770, 0o702, 0o777])
def test_a_cache_folder_that_others_can_write_to_is_not_used(places, bits):
    folder = places / "home/.cache/gpuprof"
    folder.mkdir(parents=True)
    folder.chmod(bits)
    assert cache_folder("compiled", is_executed=True) == CacheFolder(
        places / "runtime/gpuprof/compiled",
        (f"{folder}: others can use it (chmod go-w makes it yours)",),
        lasts=False,
    )
    folder.chmod(0o755)
    assert cache_folder("compiled", is_executed=True) == CacheFolder(folder / "compiled")


def link(folder):
    (folder.parent / "real").mkdir(mode=0o700)
    folder.symlink_to("real")


def made(bits):
    def make(folder):
        folder.mkdir()
        folder.chmod(bits)

    return make


# What somebody else can have put among temporary files, and why it is not used.
SQUATTED = {
    "a link": (link, "Not a directory"),
    "a file": (lambda folder: folder.write_text(""), "cannot be written"),
    "others can look into it": (made(0o755), "others can use it (chmod go= makes it yours)"),
    "its group can": (made(0o710), "others can use it (chmod go= makes it yours)"),
}


@pytest.mark.parametrize("make, why", SQUATTED.values(), ids=SQUATTED)
def test_a_folder_among_temporary_files_must_be_the_users_own(places, monkeypatch, make, why):
    refused = no_home(places, monkeypatch)
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    make(temporary(places))
    with pytest.raises(OSError) as error:
        cache_folder("compiled", is_executed=True)
    assert str(error.value) == f"{refused}; {temporary(places)}: {why}"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("given", ["home", "home/.cache", "home/.cache/gpuprof", "home/.cache/gpuprof/compiled"])
def test_a_folder_of_another_user_is_not_used(places, given):
    """Also where root runs it with another user's home, as sudo may: that user can change what lies there. PTX, which
    is not executed, is kept there all the same.
    """
    (places / "home/.cache/gpuprof/compiled").mkdir(parents=True, mode=0o700)
    (places / "home/.cache/gpuprof").chmod(0o700)
    os.chown(places / given, ELSEWHERE, ELSEWHERE)
    assert cache_folder("compiled", is_executed=True) == CacheFolder(
        places / "runtime/gpuprof/compiled", (f"{places / given}: belongs to another user",), lasts=False
    )
    assert cache_folder("ptx", is_executed=False) == CacheFolder(places / "home/.cache/gpuprof/ptx")


def test_a_folder_for_temporary_files_in_which_others_can_rename(places, monkeypatch):
    refused = no_home(places, monkeypatch)
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    (places / "tmp").chmod(0o777)
    with pytest.raises(OSError) as error:
        cache_folder("compiled", is_executed=True)
    assert str(error.value) == f"{refused}; {places}/tmp: others can rename what is in it (chmod +t forbids it)"
