"""The rules of the house, each a function from the modules of a package to the text of what is wrong."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.house.source_graph import (
    Module,
    bound_names,
    circles,
    import_graph,
    taken_names,
)

Modules = Mapping[str, Module]

REST = "."  # in an order of sub-rooms: the files at the room's root that are not named


def wrong_at_the_top(folder: Path, rooms: Iterable[str], files: Iterable[str]) -> list[str]:
    """What stands beside rooms and files, or is said to and does not."""
    found = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    return sorted(f"{name}: neither a room nor one of the files" for name in found - {*rooms, *files})


def wrong_rooms(modules: Modules, may_import: Mapping[str, str], exceptions: Iterable[tuple[str, str]]) -> list[str]:
    """Imports of rooms that are not allowed. `may_import`: room -> the rooms it may import, apart by blanks."""
    wrong = []
    for name, others in import_graph(modules).items():
        room = modules[name].room
        allowed = {room, *may_import.get(room, "").split()}
        wrong += [
            f"{name} imports {other}"
            for other in others
            if modules[other].room not in allowed and (room, other) not in exceptions
        ]
    return sorted(wrong)


def not_one_way(may_import: Mapping[str, str]) -> list[str]:
    """Rooms that may import what comes after them in the table."""
    order = list(may_import)
    return [
        f"{room} may import {other}"
        for room, others in may_import.items()
        for other in others.split()
        if order.index(other) >= order.index(room)
    ]


def rooms_that_import_all(modules: Modules, rooms: set[str]) -> list[str]:
    """The rooms that know all of `rooms` at once, and are none of them."""
    known: dict[str, set[str]] = {}
    for name, others in import_graph(modules).items():
        known.setdefault(modules[name].room, set()).update(modules[other].room for other in others)
    return sorted(room for room, others in known.items() if rooms <= others and room not in rooms)


def wrong_sub_rooms(modules: Modules, room: str, order: tuple[str, ...]) -> list[str]:
    """Imports within a room against its order: sub-rooms and files of its root, the ground first."""
    place = {each: index for index, each in enumerate(order)}

    def part(name: str) -> str:
        below = name.split(".")[2:]
        is_sub_room = len(below) > 1 or (below and modules[name].path.name == "__init__.py")
        if is_sub_room or (below and below[0] in place):
            return below[0]
        return REST

    wrong = []
    for name, others in import_graph(modules).items():
        if modules[name].room != room:
            continue
        if part(name) not in place:
            wrong.append(f"{name}: {part(name)} has no place in the order")
            continue
        same = [other for other in others if modules[other].room == room and part(other) in place]
        wrong += [f"{name} imports {other}" for other in same if place[part(other)] > place[part(name)]]
    return sorted(wrong)


def crowded_rooms(folder: Path, most: int, exceptions: Iterable[str]) -> list[str]:
    """Folders with more than `most` .py files, and exceptions that need not be."""
    counts = {
        str(path.relative_to(folder)): len(list(path.glob("*.py")))
        for path in (folder, *folder.rglob("*"))
        if path.is_dir()
    }
    crowded = {name: count for name, count in counts.items() if count > most}
    wrong = [f"{name} has {count} files" for name, count in crowded.items() if name not in exceptions]
    return sorted(wrong + [f"{name} needs no exception" for name in exceptions if name not in crowded])


def imports_of_insides(modules: Modules, insides: tuple[str, ...], allowed: Iterable[str]) -> list[str]:
    """Imports of others' insides ("numba.core") by modules that are neither `allowed` nor in a room that is."""
    return sorted(
        {
            f"{name} imports {full}"
            for name, module in modules.items()
            if module.room not in allowed and name not in allowed
            for taken in taken_names(module, modules)
            for full in [f"{taken.source}.{taken.member}".rstrip(".")]
            if any(f"{full}.".startswith(f"{inside}.") for inside in insides)
        }
    )


def taken_second_hand(modules: Modules, faces: Iterable[str]) -> list[str]:
    """Names imported from a module that has them from elsewhere, and names of other rooms in an `__all__`. A face, the
    `__init__` of a room, may show what the room has; a module with a `__getattr__` defines what it is asked for.
    """
    wrong = []
    defined = {name: _defined(module) for name, module in modules.items()}
    for name, module in modules.items():
        for taken in taken_names(module, modules):
            source = modules.get(taken.source)
            if not (source and taken.member) or {taken.member, "__getattr__"} & defined[taken.source]:
                continue
            if source.room not in faces or taken.member not in _shown(source):
                wrong.append(f"{name} takes {taken.member} from {taken.source}, which does not define it")
        wrong += [
            f"{name} shows {taken.name} of {taken.source}"
            for taken in taken_names(module, modules)
            if taken.name in _shown(module) and taken.source in modules and modules[taken.source].room != module.room
        ]
    return sorted(wrong)


def _defined(module: Module) -> set[str]:
    return set().union(*(bound_names(statement) for statement in module.tree.body))


def _shown(module: Module) -> set[str]:
    """What its `__all__` lists."""
    return {
        name
        for statement in module.tree.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
        for name in ast.literal_eval(statement.value)
    }


def import_circles(modules: Modules) -> list[str]:
    return [" <-> ".join(group) for group in circles(import_graph(modules))]
