"""Comments behind the PTX of what its registers do that wgmma does not allow."""

from gpuprof.isa.flow.warpgroups import (
    NEVER_FENCED,
    OVERWRITTEN,
    SOMETIMES_FENCED,
    UNFENCED,
    RegisterHazard,
    register_hazards,
    with_hazards,
)

HAZARDS = [
    RegisterHazard(UNFENCED, 52, 48, "%f5"),
    RegisterHazard(OVERWRITTEN, 61, 52, "%r7"),
    RegisterHazard(NEVER_FENCED, 70),
    RegisterHazard(SOMETIMES_FENCED, 75),
]
PTX = ".version 8.6\n// gpuprof: a.cu:12:15 copies 24 bytes; padding: 1-4 18-24"
COMMENTED = f"""{PTX}
// gpuprof: line 52 multiplies %f5 of line 48, with no wgmma.fence between
// gpuprof: line 61 writes %r7, which line 52 may still read
// gpuprof: line 70 multiplies with no wgmma.fence before it
// gpuprof: line 75 multiplies with no wgmma.fence before it on some way
"""


def test_comments_say_what_was_found():
    assert with_hazards(PTX, HAZARDS) == COMMENTED
    assert list(register_hazards(COMMENTED)) == HAZARDS


def test_text_that_is_assembled_again_has_them_once():
    assert with_hazards(COMMENTED, HAZARDS) == COMMENTED
    assert with_hazards(COMMENTED, []) == f"{PTX}\n"
    assert with_hazards(PTX, []) == PTX
