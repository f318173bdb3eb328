"""Clusters of blocks, and what else sm_90 has for kernels that run at the same time."""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.isa.modifiers import pack

_CLUSTER_SPACE = ("shared::cluster",)
_ORDERS = ("acquire", "release", "relaxed", "acq_rel", "sc")


def _barrier_cluster(lowering):
    m = lowering.modifiers
    m.flag("cluster")
    operation = m.one_of(("arrive", "wait"))
    if not operation:
        raise NoVariant("form of")
    m.one_of(("acquire", "release", "relaxed"))
    m.flag("aligned")
    lowering.count(0)
    lowering.emit(f"BAR.CLUSTER.{operation.upper()}")


def _mapa(lowering):
    """The address of the same place in another block's shared memory."""
    lowering.modifiers.one_of(_CLUSTER_SPACE)
    kind = lowering.modifiers.type()
    if kind not in ("u32", "u64"):
        raise NoVariant(f"type .{kind} of")
    lowering.count(3)
    file = "R" if kind == "u32" else "D"
    address = lowering.reg(lowering.src(lowering.operand(1), kind), file)
    rank = lowering.src(lowering.operand(2), "u32")
    lowering.emit("MAPA" if file == "R" else "MAPA.64", dst=lowering.dst(lowering.operand(0), kind), a=address, b=rank)


def _getctarank(lowering):
    lowering.modifiers.one_of(_CLUSTER_SPACE)
    kind = lowering.modifiers.type()
    lowering.count(2)
    address = lowering.src(lowering.operand(1), kind)
    if kind == "u64":
        address = lowering.op("LO.64", a=lowering.reg(address, "D"))
    lowering.emit("CTARANK", dst=lowering.dst(lowering.operand(0), "u32"), a=lowering.reg(address, "R"))


def _griddepcontrol(lowering):
    """Only matters to timing: the grid that a kernel depends on has been emulated before the kernel."""
    form = lowering.modifiers.one_of(("launch_dependents", "wait"))
    if not form:
        raise NoVariant("form of")
    lowering.count(0)
    lowering.emit("GRIDDEP.WAIT" if form == "wait" else "GRIDDEP.LAUNCH")


def _setmaxnreg(lowering):
    """Registers of the emulated machine are not dealt out again: the block has those that it was launched with. The
    function may use as many as a warp asks for.
    """
    direction = lowering.modifiers.one_of(("inc", "dec"))
    if not direction or not lowering.modifiers.flag("sync") or not lowering.modifiers.flag("aligned"):
        raise NoVariant("form of")
    lowering.modifiers.type()
    lowering.count(1)
    count = lowering.src(lowering.operand(0), "u32")
    if not isinstance(count, Imm) or not 24 <= count.bits <= 256 or count.bits % 8:
        raise lowering.error("the register count is a constant from 24 to 256, a multiple of 8")
    if direction == "inc":
        lowering.body.raised_registers = max(lowering.body.raised_registers, count.bits)
    lowering.emit("NOP")


# -- fences ----------------------------------------------------------------------------------------

_PROXIES = ("alias", "async", "async::generic", "tensormap::generic")
_RESTRICTED = ("sync_restrict::shared::cta", "sync_restrict::shared::cluster")
_SCOPES = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "sys": "sys"}


def _fence(lowering):
    """Memory is one here and copies are done at once: between proxies there is only the cost of a fence."""
    m = lowering.modifiers
    if m.flag("proxy") and not m.one_of(_PROXIES):
        raise NoVariant("form of")
    m.flag("mbarrier_init")
    m.one_of(_ORDERS)
    m.one_of(("global", "shared::cta", "shared::cluster", *_RESTRICTED))
    scope = _SCOPES[m.one_of(_SCOPES, "cta")]
    lowering.count(0, 2)  # fence.proxy.tensormap::generic.acquire names the address and the size
    lowering.emit("MEMBAR", mods=pack(scope=scope))


TABLE = {"mapa": _mapa, "getctarank": _getctarank, "griddepcontrol": _griddepcontrol, "setmaxnreg": _setmaxnreg}
FORMS = {
    ("barrier", "cluster"): _barrier_cluster,
    **{("fence", form): _fence for form in ("proxy", "mbarrier_init", *_RESTRICTED)},
}
