"""Basic blocks that tell a listener: their instructions do what they did, and say so before and after."""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operation import Env, Op, read_predicate
from gpuprof.emulate.watch.executed import Executed, Site
from gpuprof.emulate.watch.listener import Wanted
from gpuprof.emulate.watch.watched_accesses import accesses_reader
from gpuprof.emulate.watch.watched_operands import results_of, sources_of
from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.opcodes import ends_block


def site_of(inst: Instruction, at: int, env: Env) -> Site:
    """Adds what it reads to the pool of constants."""
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)
    # A block that ends hands its lanes on: where their registers are then is not known here.
    results = () if ends_block(inst.op) else results_of(inst)
    is_by_lane = inst.op.kind != "matrix_load"  # which hands rows on to other lanes, and clears them itself
    return Site(at, guard, accesses_reader(inst, env), sources_of(inst, env), results, is_by_lane)


def keep(executed: Executed, wanted: Wanted) -> None:
    """What is asked for after the instruction has run."""
    if executed.at in wanted.after:
        executed.keep(executed.at in wanted.operands_after)


def watched(op: Op, site: Site, wanted: Wanted, refusing: Op | None = None) -> Op:
    """`op`, or the end of a block, which tells the chunk's listener. `refusing`: what is done in place of it for the
    lanes that the listener does not refuse, where it may.
    """
    told_after = site.at in wanted.after

    def told(lanes: Lanes) -> None:
        chunk = lanes.chunk
        chunk.executing = executed = Executed(site, lanes)
        keep(executed, wanted)
        chunk.listener.before(executed)
        if executed.refused is None or refusing is None:
            op(lanes)
        else:
            refusing(lanes)
            if site.is_by_lane:
                clear_results(lanes, site, executed.refused)
        if told_after:
            chunk.listener.after(executed)

    def asked(lanes: Lanes) -> None:
        if lanes.chunk.listener.passes(site.at):
            op(lanes)
        else:
            told(lanes)

    return asked if site.at in wanted.passing else told


def clear_results(lanes: Lanes, site: Site, refused: np.ndarray) -> None:
    """What refused lanes, bool (n,), have loaded is 0."""
    for place in site.results:
        lanes.row(place.ref)[refused] = 0
