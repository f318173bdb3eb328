"""Clusters of blocks, and what else sm_90 has for kernels that run beside each other."""

from gpuprof.assemble.values import Imm, NoVariant
from gpuprof.isa.modifiers import pack

_CLUSTER_SPACE = ("shared::cluster",)
_ORDERS = ("acquire", "release", "relaxed", "acq_rel", "sc")


def _barrier_cluster(lo):
    m = lo.modifiers
    m.flag("cluster")
    operation = m.one_of(("arrive", "wait"))
    if not operation:
        raise NoVariant("form of")
    m.one_of(("acquire", "release", "relaxed"))
    m.flag("aligned")
    lo.count(0)
    lo.emit(f"BAR.CLUSTER.{operation.upper()}")


def _mapa(lo):
    """The address of the same place in another block's shared memory."""
    lo.modifiers.one_of(_CLUSTER_SPACE)
    kind = lo.modifiers.type()
    if kind not in ("u32", "u64"):
        raise NoVariant(f"type .{kind} of")
    lo.count(3)
    file = "R" if kind == "u32" else "D"
    address = lo.reg(lo.src(lo.operand(1), kind), file)
    rank = lo.src(lo.operand(2), "u32")
    lo.emit("MAPA" if file == "R" else "MAPA.64", dst=lo.dst(lo.operand(0), kind), a=address, b=rank)


def _getctarank(lo):
    lo.modifiers.one_of(_CLUSTER_SPACE)
    kind = lo.modifiers.type()
    lo.count(2)
    address = lo.src(lo.operand(1), kind)
    if kind == "u64":
        address = lo.op("LO.64", a=lo.reg(address, "D"))
    lo.emit("CTARANK", dst=lo.dst(lo.operand(0), "u32"), a=lo.reg(address, "R"))


def _griddepcontrol(lo):
    """For timing alone: what a kernel depends on has been emulated before it."""
    form = lo.modifiers.one_of(("launch_dependents", "wait"))
    if not form:
        raise NoVariant("form of")
    lo.count(0)
    lo.emit("GRIDDEP.WAIT" if form == "wait" else "GRIDDEP.LAUNCH")


def _setmaxnreg(lo):
    """Registers of the emulated machine are not dealt out anew; the warp's own number stays what the kernel was
    launched with.
    """
    direction = lo.modifiers.one_of(("inc", "dec"))
    if not direction or not lo.modifiers.flag("sync") or not lo.modifiers.flag("aligned"):
        raise NoVariant("form of")
    lo.modifiers.type()
    lo.count(1)
    count = lo.src(lo.operand(0), "u32")
    if not isinstance(count, Imm) or not 24 <= count.bits <= 256 or count.bits % 8:
        raise lo.error("the register count is a constant from 24 to 256, a multiple of 8")
    lo.emit("NOP")


# -- fences ----------------------------------------------------------------------------------------

_PROXIES = ("alias", "async", "async::generic", "tensormap::generic")
_RESTRICTED = ("sync_restrict::shared::cta", "sync_restrict::shared::cluster")
_SCOPES = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "sys": "sys"}


def _fence(lo):
    """Memory is one here and copies are done at once: between proxies there is only the cost of a fence."""
    m = lo.modifiers
    if m.flag("proxy") and not m.one_of(_PROXIES):
        raise NoVariant("form of")
    m.flag("mbarrier_init")
    m.one_of(_ORDERS)
    m.one_of(("global", "shared::cta", "shared::cluster", *_RESTRICTED))
    scope = _SCOPES[m.one_of(_SCOPES, "cta")]
    lo.count(0, 2)  # fence.proxy.tensormap::generic.acquire names the address and the size
    lo.emit("MEMBAR", mods=pack(scope=scope))


TABLE = {"mapa": _mapa, "getctarank": _getctarank, "griddepcontrol": _griddepcontrol, "setmaxnreg": _setmaxnreg}
FORMS = {
    ("barrier", "cluster"): _barrier_cluster,
    **{("fence", form): _fence for form in ("proxy", "mbarrier_init", *_RESTRICTED)},
}
