"""Fetches write only the channels that somebody reads: of `{%f1, %f2, %f3, %f4}` mostly the first. As the real
assembler's write mask does.

What is written for nobody would still have to wait for whoever uses its register.
"""

from gpuprof.assemble.ir.body import Body
from gpuprof.isa.modifiers import FIELDS


def narrow_fetches(body: Body) -> None:
    """Takes the channels at the end of a group of four away that no instruction of the body reads."""
    fetches = [
        inst
        for block in body.blocks
        for inst in block.insts
        if "channels" in inst.op.fields and inst.dst.__class__ is tuple
    ]
    if not fetches:
        return
    read = {register for block in body.blocks for inst in block.insts for register in inst.reads()}
    for inst in fetches:
        # One channel stays even if nobody reads it: a mask of 0 stands for all four (isa.modifiers).
        wanted = max((n for n, register in enumerate(inst.dst, 1) if register in read), default=1)
        if wanted < len(inst.dst):
            inst.dst = inst.dst[:wanted]
            inst.mods |= FIELDS["channels"].put(wanted)
