"""Each rule of the architecture, broken in a package made up for it."""

from pathlib import Path

import pytest

from tests.house import architecture as rules
from tests.house.source_graph import read_package


@pytest.fixture
def house(tmp_path):
    """Makes the package `house` of files by path, each folder with an `__init__.py`."""

    def build(files: dict[str, str]) -> Path:
        folder = tmp_path / "house"
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for path in (folder, *folder.rglob("*")):
            if path.is_dir() and not (path / "__init__.py").exists():
                (path / "__init__.py").write_text("")
        return folder

    return build


def test_something_stands_at_the_top(house):
    folder = house({"errors.py": "", "hall/door.py": "", "loose.py": "", "shed/tool.py": ""})
    assert rules.wrong_at_the_top(folder, ["hall", "cellar"], ["__init__.py", "errors.py"]) == [
        "loose.py: neither a room nor one of the files",
        "shed: neither a room nor one of the files",
    ]


def test_a_room_imports_upwards(house):
    """At the top of a file, inside a function, for types alone, as a module, and from a sub-room."""
    files = {
        "cellar/pump.py": "from house.hall.door import KEY\n",
        "cellar/deep/well.py": "def draw():\n    from house import hall\n",
        "cellar/drain.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.hall.door\n",
        "cellar/wall.py": "from house.hall import stair\n",
        "hall/door.py": "from house.cellar.deep import well\nKEY = 1\n",
        "hall/stair.py": "",
        "attic/box.py": "from house.hall import door\n",
    }
    modules = read_package(house(files))
    table = {"cellar": "", "hall": "cellar"}
    assert rules.wrong_rooms(modules, table, {("cellar", "house.hall.stair")}) == [
        "house.attic.box imports house.hall.door",
        "house.cellar.deep.well imports house.hall",
        "house.cellar.drain imports house.hall.door",
        "house.cellar.pump imports house.hall.door",
    ]


def test_the_table_of_rooms_goes_both_ways():
    assert rules.not_one_way({"cellar": "", "hall": "cellar attic", "attic": "hall"}) == ["hall may import attic"]


def test_another_room_knows_all(house):
    files = {"a/x.py": "", "b/x.py": "import house.a.x", "top/x.py": "import house.a.x, house.b.x\n"}
    files["other/x.py"] = "from house.a import x\n"
    files["other/y.py"] = "def late():\n    from house.b import x\n"
    assert rules.rooms_that_import_all(read_package(house(files)), {"a", "b"}) == ["other", "top"]


def test_a_sub_room_imports_upwards(house):
    files = {
        "hall/floor/plank.py": "from house.hall.wall import brick\n",
        "hall/wall/brick.py": "from house.hall.lamp import light\nfrom house.hall.rug import RUG\n",
        "hall/lamp.py": "from house.hall.wall import brick\ndef light(): pass\n",
        "hall/rug.py": "RUG = 1\n",
        "hall/new/thing.py": "",
    }
    order = ("floor", rules.REST, "wall", "lamp")
    assert rules.wrong_sub_rooms(read_package(house(files)), "hall", order) == [
        "house.hall.floor.plank imports house.hall.wall.brick",
        "house.hall.new.thing: new has no place in the order",
        "house.hall.new: new has no place in the order",
        "house.hall.wall.brick imports house.hall.lamp",
    ]


def test_a_room_is_crowded(house):
    names = [f"hall/{part}/{number}.py" for part in ("chairs", "tables") for number in range(3)]
    folder = house(dict.fromkeys([*names, "hall/one.py"], ""))
    assert rules.crowded_rooms(folder, 3, ["hall/tables", "hall"]) == [
        "hall needs no exception",
        "hall/chairs has 4 files",
    ]


def test_a_room_looks_inside_numba(house):
    files = {
        "hall/door.py": "from numba import core, njit\n",
        "hall/deep/stair.py": "def late():\n    import llvmlite.binding as llvm\n",
        "hall/lamp.py": "from numba.core.types import int64\nfrom numba.corelike import x\n",
        "cellar/pump.py": "from numba.core import types\n",
        "hall/free.py": "from llvmlite import binding\n",
    }
    modules = read_package(house(files))
    assert rules.imports_of_insides(modules, ("numba.core", "llvmlite.binding"), ["cellar", "house.hall.free"]) == [
        "house.hall.deep.stair imports llvmlite.binding",
        "house.hall.door imports numba.core",
        "house.hall.lamp imports numba.core.types.int64",
    ]


def test_a_name_is_taken_second_hand(house):
    files = {
        "cellar/pump.py": "def pump(): pass\nHOSE, TAP = 1, 2\n",
        "cellar/__init__.py": "from house.cellar.pump import pump\n__all__ = ['pump']\n",
        "hall/door.py": "from house.cellar.pump import HOSE\n",
        "hall/__init__.py": "from house.cellar.pump import TAP\n__all__ = ['TAP']\n",
        "attic/box.py": "from house.cellar import pump\nfrom house.hall.door import HOSE\nfrom house.hall import TAP\n",
        "attic/lid.py": "from house.cellar import HOSE\n",
    }
    assert rules.taken_second_hand(read_package(house(files)), ["cellar"]) == [
        "house.attic.box takes HOSE from house.hall.door, which does not define it",
        "house.attic.box takes TAP from house.hall, which does not define it",
        "house.attic.lid takes HOSE from house.cellar, which does not define it",
        "house.hall shows TAP of house.cellar.pump",
    ]


def test_imports_go_in_circles(house):
    files = {
        "a.py": "import house.b\n",
        "b.py": "def late():\n    from house import c\n",
        "c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.a import x\n",
        "d.py": "import house.a\n",
        "e.py": "def late():\n    import house.f\n",
        "f.py": "import house.e\n",
    }
    assert rules.import_circles(read_package(house(files))) == [
        "house.a <-> house.b <-> house.c",
        "house.e <-> house.f",
    ]
