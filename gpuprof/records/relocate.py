"""Joins recordings one after another: launches get later numbers, cycles are later, modules get free addresses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuprof.device.load_map import PAGE_NBYTES, PC_LIMIT
from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.index import Index
from gpuprof.records.reader import Module
from gpuprof.relate.task_kinds import CONTAINS, NUMBERS, pass_name
from gpuprof.tables.table import CYCLE, DRAW, HOST_NS, LAUNCH, NAME, NONE, ORDER, PARAMETER, PC, TASK, Table
from gpuprof.tables.tasks import RELATIONS, TASKS

LAST_NUMBER = (1 << 32) - 1  # of a launch


@dataclass
class Relocation:
    """From the numbers of one recording to those of the whole. `modules`: id -> (id, load base); `shared` are there
    already. `n_names`: names that the recording has; `passes`: the numbers there of passes that have another one in the
    whole, by their virtual tasks.
    """

    first_launch: int = 0
    first_cycle: int = 0
    first_ns: int = 0
    first_task: int = 0
    first_parameter: int = 0
    first_name: int = 0
    first_order: int = 0
    first_draw: int = 0
    first_pass: int = 0
    n_names: int = 0
    passes: dict[int, int] = field(default_factory=dict)
    modules: dict[int, tuple[int, int]] = field(default_factory=dict)
    shared: frozenset[int] = frozenset()
    _starts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of the modules' code, ascending
    _ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    _shifts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def number(self, launch: int) -> int:
        return self.first_launch + launch

    def module(self, fields: dict[str, Any]) -> dict[str, Any]:
        number, base = self.modules[fields["id"]]
        return fields | {"id": number, "load_base": base}

    def launch(self, begin: dict[str, Any]) -> dict[str, Any]:
        parent = {"parent": self.number(begin["parent"])} if "parent" in begin else {}
        draw = {"draw": self.first_draw + begin["draw"]} if "draw" in begin else {}
        own = {"launch": self.number(begin["launch"]), "module": self.modules[begin["module"]][0]}
        return begin | own | parent | draw

    def launch_end(self, end: dict[str, Any]) -> dict[str, Any]:
        cycles = {name: end[name] + self.first_cycle for name in ("start_cycle", "end_cycle")}
        return end | {"launch": self.number(end["launch"])} | cycles

    def mark(self, mark: dict[str, Any]) -> dict[str, Any]:
        launch = {"launch": self.number(mark["launch"])} if "launch" in mark else {}
        cycle = {"cycle": mark["cycle"] + self.first_cycle} if mark["cycle"] else {}  # 0: unknown
        return mark | launch | cycle

    def rows(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Rows of a launch: code addresses, cycles and launches in them."""
        if not (self.first_launch or self.first_cycle or self._shifts.any()):
            return rows
        return self.table(table, rows)

    def table(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Rows with the numbers, positions, cycles and code addresses of the whole; NONE stays."""
        moved = rows.copy()
        for name in table.names(PC):
            moved[name] = self._moved(rows[name])
        for role, first in self._firsts.items():
            for name in table.names(role):
                there = rows[name] != NONE if rows[name].dtype == np.uint32 else np.ones(len(rows), bool)
                moved[name][there] += rows[name].dtype.type(first)
        if table is TASKS:
            self._rename_passes(rows, moved)
        return moved

    @property
    def _firsts(self) -> dict[str, int]:
        """The number in the whole, by role, that 0 in the recording becomes."""
        return {
            LAUNCH: self.first_launch,
            CYCLE: self.first_cycle,
            HOST_NS: self.first_ns,
            TASK: self.first_task,
            PARAMETER: self.first_parameter,
            NAME: self.first_name,
            ORDER: self.first_order,
            DRAW: self.first_draw,
        }

    def _rename_passes(self, rows: np.ndarray, moved: np.ndarray) -> None:
        """Passes are called by their numbers in the whole."""
        for name, task in enumerate(self.passes, self.first_name + self.n_names):
            moved["name"][rows["task"] == task] = name

    def names(self, names: Sequence[str]) -> list[str]:
        """Names of the recording, then of passes."""
        return [*names, *(pass_name(self.first_pass + number) for number in self.passes.values())]

    def parameter(self, fields: dict[str, Any]) -> dict[str, Any]:
        task = {"task": fields["task"] + self.first_task} if "task" in fields else {}
        number, begin = fields["parameter"] + self.first_parameter, fields["begin"] + self.first_order
        return fields | {"parameter": number, "begin": begin} | task

    def draw(self, fields: dict[str, Any]) -> dict[str, Any]:
        firsts = {"draw": self.first_draw, "task": self.first_task, "buffer": self.first_task, "pass": self.first_pass}
        firsts |= dict.fromkeys(("start_cycle", "end_cycle"), self.first_cycle)
        moved = {name: fields[name] + first for name, first in firsts.items() if name in fields}
        units = [[*unit[:3], *(cycle + self.first_cycle for cycle in unit[3:])] for unit in fields["units"]]
        return fields | moved | {"units": units}

    def plain_rows(self, columns: list[dict[str, str]], rows: list[list]) -> list[list]:
        """Rows of a trace generator's table."""
        places = [place for place, column in enumerate(columns) if is_code_address(column["name"])]
        moved = [list(row) for row in rows]
        for row in moved:
            for place in places:
                row[place] = self._moved_one(row[place])
        return moved

    def finding(self, finding: dict[str, Any]) -> dict[str, Any]:
        pcs = {name: self._moved_one(finding[name]) for name in ("pc", "other_pc")}
        return finding | {"launch": self.number(finding["launch"])} | pcs

    def _moved_one(self, pc: int) -> int:
        return int(self._moved(np.array([pc], np.int64))[0])

    def _moved(self, pc: np.ndarray) -> np.ndarray:
        """Addresses that are in no module stay."""
        if not len(self._starts):
            return pc
        at = np.maximum(np.searchsorted(self._starts, pc, side="right") - 1, 0)
        inside = (pc >= self._starts[at]) & (pc < self._ends[at])
        return np.where(inside, pc + self._shifts[at], pc)


def passes_of(index: Index) -> dict[int, int]:
    """The number of each pass of draws by its virtual task, which has their tasks for parts."""
    pass_of = {fields["task"]: fields["pass"] for fields in index.draws.values() if "task" in fields}
    name_of = dict(zip(index.rows[TASKS]["task"].tolist(), index.rows[TASKS]["name"].tolist(), strict=True))
    relations = index.rows[RELATIONS]
    contains = relations[relations["kind"] == NUMBERS[CONTAINS]]
    passes = {}
    for whole, part in zip(contains["source"].tolist(), contains["target"].tolist(), strict=True):
        if part in pass_of and whole in name_of and index.names[name_of[whole]] == pass_name(pass_of[part]):
            passes[whole] = pass_of[part]
    return passes


def is_code_address(column: str) -> bool:
    """A column of a trace generator's table holds code addresses, by its name."""
    return column == "pc" or column.endswith("_pc")


class Room:
    """The numbers and addresses that the recordings placed so far take."""

    def __init__(self) -> None:
        self._launches = 0
        self._cycles = 0
        self._tasks = self._parameters = self._names = self._orders = 0
        self._draws = self._passes = 0
        self._end = 0  # of the code
        self._modules: list[tuple[Module, int, int]] = []  # with their new ids and load bases

    def place(self, index: Index) -> Relocation:
        """The next recording. Raises NotComparable when there is no room left."""
        for module in index.modules.values():
            if module.fields["load_base"] + module.fields["code_nbytes"] > PC_LIMIT:
                raise FileFormatError(
                    f"{index.path}: module {module.fields['id']} lies above 4 GiB; code addresses have 32 bits"
                )
        places, shared = self._place_modules(index)
        order = sorted(index.modules, key=lambda number: index.modules[number].fields["load_base"])
        starts = np.array([index.modules[number].fields["load_base"] for number in order], np.int64)
        lengths = np.array([index.modules[number].fields["code_nbytes"] for number in order], np.int64)
        shifts = np.array([places[number][1] for number in order], np.int64) - starts
        passes = passes_of(index) if self._passes else {}
        relocation = Relocation(
            self._launches,
            self._cycles,
            round(self._cycles * 1000 / index.host_clock_mhz) if index.host_clock_mhz else 0,
            self._tasks,
            self._parameters,
            self._names,
            self._orders,
            self._draws,
            self._passes,
            len(index.names),
            passes,
            places,
            frozenset(shared),
            starts,
            starts + lengths,
            shifts,
        )
        self._launches += max(index.launches, default=-1) + 1
        self._cycles += index.end_cycle
        self._tasks += int(index.rows[TASKS]["task"].astype(np.int64).max(initial=-1)) + 1
        self._parameters += len(index.parameters)
        self._names += len(index.names) + len(passes)
        self._orders += int(index.rows[TASKS]["end"].max(initial=0)) + 1
        of_launches = (launch.begin.get("draw", -1) for launch in index.launches.values())
        self._draws += max([*index.draws, *of_launches], default=-1) + 1
        self._passes += max((fields["pass"] for fields in index.draws.values()), default=-1) + 1
        numbered = {"launches": self._launches, "tasks": self._tasks, "parameters": self._parameters}
        for what, n in (numbered | {"draws": self._draws}).items():
            if n > LAST_NUMBER:
                raise NotComparable(
                    f"{index.path}: together these are {n} {what}; a recording holds at most {LAST_NUMBER}"
                )
        return relocation

    def _place_modules(self, index: Index) -> tuple[dict[int, tuple[int, int]], set[int]]:
        """Id and load base of each module: the first recording's stay, later ones share an equal module, or follow all
        others.
        """
        is_first, there = not self._modules, tuple(self._modules)
        places, shared = {}, set()
        for number, module in index.modules.items():
            known = next((place for other, *place in there if _same(module, other)), None)
            if known:
                places[number] = tuple(known)
                shared.add(number)
                continue
            new = (
                (number, module.fields["load_base"])
                if is_first
                else (max(id for _, id, _ in self._modules) + 1, self._end)
            )
            places[number] = new
            self._modules.append((module, *new))
            self._end = max(
                self._end, -(-(new[1] + module.fields["code_nbytes"]) // PAGE_NBYTES) * PAGE_NBYTES + PAGE_NBYTES
            )
            if self._end > PC_LIMIT + PAGE_NBYTES:
                raise NotComparable(f"{index.path}: its code would lie above 4 GiB; merge fewer recordings")
        return places, shared


def _same(first: Module, second: Module) -> bool:
    """Two modules are one, at any addresses."""
    return first.image == second.image and all(
        first.fields[name] == second.fields[name] for name in ("name", "code_nbytes", "compiler", "arch")
    )
