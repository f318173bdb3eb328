"""The dotted modifiers of a PTX instruction. A handler takes what it understands; what is left over is an error."""

from gpuprof.assemble.ir.values import NoVariant


class Modifiers:
    def __init__(self, modifiers: tuple[str, ...]):
        self.rest = list(modifiers)

    def flag(self, name: str) -> bool:
        """Takes a modifier if it is there."""
        if name in self.rest:
            self.rest.remove(name)
            return True
        return False

    def one_of(self, names, default: str = "") -> str:
        """Takes the first modifier that is among `names`; the default when none is."""
        for name in self.rest:
            if name in names:
                self.rest.remove(name)
                return name
        return default

    def type(self) -> str:
        """Takes the last modifier, the type. Raises NoVariant when there is none."""
        if not self.rest:
            raise NoVariant("typeless form of")
        return self.rest.pop()

    def float_mods(self) -> dict[str, int | str]:
        """Takes rounding, .ftz and .sat, as fields of `isa.modifiers.pack`."""
        return {
            "rnd": self.one_of(("rn", "rz", "rm", "rp"), "rn"),
            "ftz": int(self.flag("ftz")),
            "sat": int(self.flag("sat")),
        }
