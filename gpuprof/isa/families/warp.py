"""Operations between the lanes of a warp."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    # SHFL: a value; lane and clamp are register b and c, or immediates in mods; e is the member mask's register, 255 =
    # imm.
    shuffle = ("shfl", "has_lane", "lane", "has_clamp", "clamp")
    yield row("SHFL", "shuffle", "R=R,R,R,R", "lsu", "shuffle", "shuffle", "b32", shuffle)
    yield row("SHFL.P", "shuffle", "P=R,R,R,R", "lsu", "shuffle", "shuffle_valid", "b32", shuffle)
    # Votes: the member mask is imm, or R b when that is not 255.
    yield row("VOTE.ALL", "vote", "P=P,R", "alu", "vote", "vote_all", "pred")
    yield row("VOTE.ANY", "vote", "P=P,R", "alu", "vote", "vote_any", "pred")
    yield row("VOTE.UNI", "vote", "P=P,R", "alu", "vote", "vote_uni", "pred")
    yield row("VOTE.BALLOT", "vote", "R=P,R", "alu", "vote", "vote_ballot", "pred")
    yield row("ACTIVEMASK", "vote", "R=", "alu", "vote", "activemask", "b32")
    yield row("ELECT", "elect", "R=,R,>P", "alu", "vote", "elect", "b32")
    for bits, r in ((32, "R"), (64, "D")):
        yield row(f"MATCH.ANY.B{bits}", "match", f"R={r},R", "xu", "shuffle", "match_any", f"b{bits}")
        yield row(f"MATCH.ALL.B{bits}", "match", f"R={r},R,>P", "xu", "shuffle", "match_all", f"b{bits}")
    for op, types in (
        ("ADD", ("s32",)),
        ("MIN", ("s32", "u32")),
        ("MAX", ("s32", "u32")),
        ("AND", ("b32",)),
        ("OR", ("b32",)),
        ("XOR", ("b32",)),
    ):
        for t in types:
            yield row(
                f"REDUX.{op}.{t}".upper(),
                "warp_reduction",
                "R=R,R",
                "alu",
                "shuffle",
                "redux_" + op.lower(),
                t,
                slots=2,
            )
    for op in ("MIN", "MAX"):
        yield row(
            f"REDUX.{op}.F32",
            "warp_reduction",
            "R=R,R",
            "alu",
            "shuffle",
            f"redux_{op.lower()}_float",
            "f32",
            ("nan", "abs"),
            slots=2,
        )
