"""Basic blocks that notify a listener: their instructions do what they did, and report it before and after."""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operation import Env, Op, read_predicate
from gpuprof.emulate.watch.executed import Executed, Site
from gpuprof.emulate.watch.listener import WatchRequests
from gpuprof.emulate.watch.watched_accesses import accesses_reader
from gpuprof.emulate.watch.watched_operands import results_of, sources_of
from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.opcodes import ends_block


def site_of(inst: Instruction, at: int, env: Env) -> Site:
    """Adds its sources to the pool of constants."""
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)
    # A block that ends hands its lanes on: where their registers are then is not known here.
    results = () if ends_block(inst.op) else results_of(inst)
    is_by_lane = inst.op.kind != "matrix_load"  # which hands rows on to other lanes, and clears them itself
    return Site(at, guard, accesses_reader(inst, env), sources_of(inst, env), results, is_by_lane)


def store_inputs(executed: Executed, requests: WatchRequests) -> None:
    """Computes the values that are read after the instruction has run."""
    if executed.at in requests.after:
        executed.store_inputs(executed.at in requests.operands_after)


def watched(op: Op, site: Site, requests: WatchRequests, refusing: Op | None = None) -> Op:
    """Wraps `op`, or the end of a block, so that it notifies the chunk's listener. `refusing`: an operation in place of
    it for the lanes that the listener does not refuse, where it may.
    """
    is_reported_after = site.at in requests.after

    def reporting(lanes: Lanes) -> None:
        chunk = lanes.chunk
        chunk.executing = executed = Executed(site, lanes)
        store_inputs(executed, requests)
        chunk.listener.before(executed)
        if executed.refused is None or refusing is None:
            op(lanes)
        else:
            refusing(lanes)
            if site.is_by_lane:
                clear_results(lanes, site, executed.refused)
        if is_reported_after:
            chunk.listener.after(executed)

    def asked(lanes: Lanes) -> None:
        if lanes.chunk.listener.passes(site.at):
            op(lanes)
        else:
            reporting(lanes)

    return asked if site.at in requests.passing else reporting


def clear_results(lanes: Lanes, site: Site, refused: np.ndarray) -> None:
    """Sets the registers that refused lanes, bool (n,), have loaded to 0."""
    for register in site.results:
        lanes.row(register.ref)[refused] = 0
