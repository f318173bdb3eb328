"""The module that a compiler gives to the assembler."""

from dataclasses import asdict, dataclass, field

from gpuprof.isa.facts import NO_FACTS, Facts
from gpuprof.isa.gpubin.layout import from_plain, to_plain


@dataclass(frozen=True)
class PtxModule:
    """A compiled module as PTX text, with what the PTX itself cannot say.

    name: the path as the user gave it. ptx: the module's text. compiler: its name, with versions. arch: "sm_80".
    sources: the text of every file that a `.file` directive names, when it could be read.
    display: symbol -> the function's name as written in the source, for kernels and for inlined functions.
    param_types: kernel symbol -> the C++ type of each parameter with typedefs resolved ("const float *", "int",
    "float4").
    facts: about the code, where the compiler knows some.
    """

    name: str
    ptx: str
    sources: dict[str, str]
    display: dict[str, str]
    compiler: str
    arch: str
    param_types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Facts = NO_FACTS

    def as_dict(self) -> dict:
        return asdict(self) | {"facts": to_plain(self.facts)}

    @classmethod
    def from_dict(cls, fields: dict) -> "PtxModule":
        """The inverse of `as_dict` after a trip through JSON, which knows no tuples."""
        types = {symbol: tuple(each) for symbol, each in fields["param_types"].items()}
        facts = from_plain(Facts, fields["facts"], "facts")
        return cls(**{**fields, "param_types": types, "facts": facts})
