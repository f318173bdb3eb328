"""Loads and stores. Where several lanes store to one place, the highest lane wins (among warps that run together, the
highest warp).
"""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import S32, U32, U64, Ref, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.memory.access import Site, Touched, make_site, touch
from gpuprof.emulate.memory.direct import address_of, moved, space_of
from gpuprof.emulate.memory.generic import SPLIT_SPACES, touch_generic
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.modifiers import unpack_name


class Element:
    """How an access's bytes are seen: `count` elements of `nbytes`, in rows of `kind`; `signed` ones are
    sign-extended.
    """

    def __init__(self, count: int, nbytes: int, kind: int, signed: bool = False):
        self.count, self.nbytes, self.kind, self.signed = count, nbytes, kind, signed
        self.shift = nbytes.bit_length() - 1


ELEMENTS = {
    "u8": Element(1, 1, U32), "s8": Element(1, 1, S32, True), "u16": Element(1, 2, U32),
    "s16": Element(1, 2, S32, True),
    "32": Element(1, 4, U32), "64": Element(1, 8, U64),
    "v2.32": Element(2, 4, U32), "v4.32": Element(4, 4, U32), "v2.64": Element(2, 8, U64),
    "v8.32": Element(8, 4, U32), "v4.64": Element(4, 8, U64),
}  # fmt: skip


def resolve(lanes: Lanes, site: Site):
    """(space, Touched) of each state space the lanes' addresses lie in; all but generic ones lie in one."""
    address = site.address(lanes)
    active = lanes.active if site.guard is None else site.guard(lanes)
    if site.space in SPLIT_SPACES:
        return touch_generic(lanes, site, address, active)
    space = lanes.chunk.spaces[site.space]
    return [(space, touch(lanes, site, space, address, active, needs_records=False))]


def fetch(view: np.ndarray, index: np.ndarray, touched: Touched, count: int, row: np.ndarray, masked: bool) -> None:
    """row = view[index] on the active lanes; on the others too unless `masked`."""
    if touched.contiguous:
        start = int(index[0])
        row[:] = view[start : start + count]
    elif masked:
        np.copyto(row, view.take(index, mode="clip"), where=touched.active, casting="unsafe")
    elif view.dtype == row.dtype:
        view.take(index, out=row, mode="clip")
    else:
        row[:] = view.take(index, mode="clip")


def build_load(inst: Instruction, env: Env) -> Op:
    from gpuprof.emulate.memory.bulk_access import load

    site = make_site(inst, env, "read")
    element = ELEMENTS[inst.op.types[0]]
    rows = [Ref(element.kind, inst.dst + k if inst.dst != RZ else RZ) for k in range(element.count)]
    single = element.count == 1
    address = address_of(inst, env)
    if unpack_name(inst.mods, "sem"):
        env.spins.add(env.at)

    def seen(space) -> np.ndarray:
        view = space.views[element.nbytes]
        return view.view(f"i{element.nbytes}") if element.signed else view

    def op(lanes: Lanes) -> None:
        if (
            inst.dst != RZ
            and (space := space_of(lanes, site))
            and moved(load, lanes, site, space, address, seen(space), element.shift, rows)
        ):
            return
        parts = resolve(lanes, site)
        if inst.dst == RZ:
            return
        masked = site.guard is not None or len(parts) > 1
        for space, touched in parts:
            view, index = seen(space), touched.flat >> element.shift
            for k, ref in enumerate(rows):
                part = touched if single else touched._replace(contiguous=False)
                fetch(view, index + k if k else index, part, lanes.n, lanes.v[ref.kind][ref.index], masked)

    return op


def build_store(inst: Instruction, env: Env) -> Op:
    from gpuprof.emulate.memory.bulk_access import store

    site = make_site(inst, env, "write")
    element = ELEMENTS[inst.op.types[0]]
    if inst.b == RZ or inst.imm_slot == "b":
        rows = [source(inst, "b", element.kind, env.pool)] * element.count
    else:
        rows = [Ref(element.kind, inst.b + k) for k in range(element.count)]
    address = address_of(inst, env)

    def op(lanes: Lanes) -> None:
        if (space := space_of(lanes, site)) and moved(
            store, lanes, site, space, address, space.views[element.nbytes], element.shift, rows
        ):
            return
        for space, touched in resolve(lanes, site):
            view = space.views[element.nbytes]
            index = touched.flat >> element.shift
            for k, ref in enumerate(rows):
                put(view, index + k if k else index, lanes, lanes.v[ref.kind][ref.index], touched, element.count == 1)

    return op


def put(view: np.ndarray, index: np.ndarray, lanes: Lanes, values: np.ndarray, touched: Touched, single: bool) -> None:
    """view[index] = values on the active lanes, the last one winning."""
    active = touched.active
    if touched.contiguous and single:
        start = int(index[0])
        view[start : start + lanes.n] = values
    elif active is None:
        view[index] = values
    else:
        view[index[active]] = full_row(lanes, values)[active]


SEMANTICS = {"load": build_load, "store": build_store}
