"""Variables and parameters: state spaces, types, extents and initial values (PTX ISA 5)."""

import math
from dataclasses import replace

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.ast import TYPE_NBYTES
from gpuprof.assemble.ptx.expressions import expression
from gpuprof.assemble.ptx.parse_values import ValueParser
from gpuprof.assemble.ptx.tokens import Token
from gpuprof.isa.handles import static_word

OPAQUE_TYPES = ("texref", "samplerref", "surfref")
SPACES = ("global", "const", "shared", "local", "param", "reg")
_INITIALISED = ("global", "const")
_WIDEST_NBYTES = 16  # of a vector
_VECTORS = {".v2": 2, ".v4": 4}
_MOST_INITIAL_VALUES = 1 << 22


class VariableParser(ValueParser):
    """Declarations of variables, in modules, functions and blocks."""

    def state_space(self) -> str:
        space = self.token.text[1:]
        if self.token.kind != "dot" or space not in SPACES:
            raise self.error(f"expected a state space, found {self.token.text!r}")
        self.advance()
        return space

    def alignment(self) -> int:
        if not self.accept(".align"):
            return 0
        token = self.token
        value = self.integer()
        if value <= 0 or value & (value - 1) or value > 4096:
            raise self.error("an alignment is a power of two", token)
        return value

    def vector_length(self) -> int:
        length = _VECTORS.get(self.token.text, 1)
        if length > 1:
            self.advance()
        return length

    def type_name(self) -> str:
        kind = self.token.text[1:]
        if self.token.kind != "dot" or kind not in TYPE_NBYTES:
            raise self.error(f"expected a type, found {self.token.text!r}")
        self.advance()
        return kind

    # extents: { [ [N] ] }; the first may be left out, which is 0 here
    def extents(self) -> list[int]:
        extents: list[int] = []
        while self.accept("["):
            if self.token.text == "]" and extents:
                raise self.error("only the first extent may be left out")
            extents.append(0 if self.token.text == "]" else self.extent())
            self.expect("]")
        return extents

    def extent(self) -> int:
        token = self.token
        number = self.constant()
        if number.kind != "int" or number.value < 0:
            raise self.error("an extent is a number of elements", token)
        return number.value

    def size(self, nbytes: int, extents: list[int]) -> int:
        for extent in extents:
            nbytes *= extent
            if nbytes > 1 << 40:
                raise self.error(f"a size of {nbytes} bytes")
        return nbytes

    # param: .param [.align N] [.vN] .type [.ptr [.space] [.align N]] name [ [N] ]
    def param(self) -> ast.Variable:
        line = self.where.line(self.token.offset)
        start = self.token
        space = self.state_space()
        if space not in ("param", "reg"):
            raise self.error(f"a parameter is .param or .reg, not .{space}", start)
        align = self.alignment()
        vector = self.vector_length()
        kind = self.type_name()
        is_pointer = False
        if self.accept(".ptr"):
            is_pointer = True
            if self.token.kind == "dot" and self.token.text[1:] in SPACES:
                self.advance()
            self.alignment()
        token = self.token
        name = self.expect_kind("word", "a parameter name")
        extents = self.extents()
        self.check_param(token, space, kind, vector, extents)
        nbytes = self.size(TYPE_NBYTES[kind] * vector, extents)
        return ast.Variable(
            name, space, kind, nbytes, align or TYPE_NBYTES[kind] * vector, line, bool(extents), is_pointer=is_pointer,
            vector=vector, column=self.where.column(token.offset),
        )  # fmt: skip

    def check_param(self, token: Token, space: str, kind: str, vector: int, extents: list[int]):
        name = token.text
        if len(extents) > 1:
            raise self.error(f"parameter {name}: an array among parameters has one extent", token)
        if extents and space == "reg":
            raise self.error(f"parameter {name}: registers are no arrays; declare it .param", token)
        if vector > 1 and space == "param" and not extents:
            raise self.error(f"parameter {name}: a vector is a .reg parameter", token)
        self.check_type(token, space, kind, vector)

    def check_type(self, token: Token, space: str, kind: str, vector: int):
        if kind == "pred" and (space != "reg" or vector > 1):
            raise self.error(f"{token.text}: a .pred is a single register", token)
        if TYPE_NBYTES[kind] * vector > _WIDEST_NBYTES:
            raise self.error(f"{token.text}: a vector has at most {8 * _WIDEST_NBYTES} bits", token)

    # params: ( [ variable { , variable } ] )
    def params(self) -> tuple[ast.Variable, ...]:
        self.expect("(")
        if self.accept(")"):
            return ()
        params = [self.param()]
        while self.accept(","):
            params.append(self.param())
        self.expect(")")
        return tuple(params)

    # variables: .space [.align N] [.vN] .type name [extent] [= initial] {, ...} ;
    def variables(self, linkage: str = "") -> list[ast.Variable]:
        space = self.state_space()
        align = self.alignment()
        attribute = self.accept(".attribute")
        if attribute:
            self.skip_parentheses()
            align = self.alignment() or align
        vector = self.vector_length()
        kind = self.type_name()
        result = []
        while True:
            token = self.token
            name = self.expect_kind("word", "a variable name")
            count = self.count()
            element_nbytes = TYPE_NBYTES[kind] * vector
            extents = self.extents()
            is_array = bool(extents)
            if vector > 1:
                extents.append(vector)
            initial = self.initial_of(kind, tuple(extents)) if self.accept("=") else None
            if initial is not None and extents and extents[0] == 0:
                extents[0] = -(-len(initial) // max(1, math.prod(extents[1:])))
            nbytes = self.size(TYPE_NBYTES[kind], extents)
            variable = ast.Variable(
                name, space, kind, nbytes, align or element_nbytes, self.where.line(token.offset), is_array, initial,
                linkage, column=self.where.column(token.offset),
            )  # fmt: skip
            self.check_variable(token, variable, vector)
            result += [variable] if count is None else [replace(variable, name=f"{name}{n}") for n in range(count)]
            if not self.accept(","):
                break
        self.expect(";")
        return result

    # count: [ < N > ], for name0 to name(N-1)
    def count(self) -> int | None:
        if not self.accept("<"):
            return None
        count = self.integer()
        self.expect(">")
        if not 0 <= count <= 1 << 20:
            raise self.error(f"{count} variables")
        return count

    def check_variable(self, token: Token, variable: ast.Variable, vector: int):
        """Raises PtxError for declarations that ptxas 13.0 refuses."""
        name, space = variable.name, variable.space
        self.check_type(token, space, variable.type, vector)
        if space == "param" and vector > 1:
            raise self.error(f"variable {name}: a vector is a register; declare it .reg", token)
        if variable.is_array and variable.nbytes == 0 and variable.linkage != "extern":
            raise self.error(f"variable {name}: an array without a size is .extern", token)
        if variable.initial is not None and (space not in _INITIALISED or variable.linkage == "extern"):
            what = "an .extern" if variable.linkage == "extern" else f"a .{space}"
            raise self.error(f"variable {name}: {what} variable has no initial value", token)
        if variable.linkage == "common" and space != "global":
            raise self.error(f"variable {name}: a .common variable is .global", token)

    def initial_of(self, kind: str, extents: tuple[int, ...]) -> list:
        return self.sampler_state(kind) if kind in OPAQUE_TYPES else self.initial(extents)

    # sampler_state: { field = value {, field = value} } of an opaque variable (PTX ISA 5.3)
    def sampler_state(self, kind: str) -> list[ast.Number]:
        fields: dict[str, str | int] = {}
        self.expect("{")
        while not self.accept("}"):
            token = self.token
            name = self.expect_kind("word", "a field of a sampler")
            self.expect("=")
            fields[name] = self.expect_kind("word", "a value") if self.token.kind == "word" else self.integer()
            try:
                word = static_word(fields)
            except ValueError as error:
                raise self.error(str(error), token) from None
            if self.token.text != "}":
                self.expect(",")
        if kind == "surfref" or not fields:
            raise self.error(f"a .{kind} has no such initial value")
        return [ast.Number(word)]

    # initial: value | { [initial {, initial}] }; what is left out of an inner list is zero
    def initial(self, extents: tuple[int, ...]) -> list:
        if not self.accept("{"):
            return [self.initial_value()]
        self.enter()
        inner = extents[1:]
        width = math.prod(inner)
        values: list = []
        while not self.accept("}"):
            token = self.token
            element = self.initial(inner)
            if token.text == "{":
                if len(element) > width:
                    raise self.error("more initial values than elements", token)
                if width > _MOST_INITIAL_VALUES:
                    raise self.error(f"lists of {width} initial values", token)
                element += [ast.Number(0)] * (width - len(element))
            values += element
            if len(values) > _MOST_INITIAL_VALUES:
                raise self.error(f"more than {_MOST_INITIAL_VALUES} initial values", token)
            if self.token.text != "}":
                self.expect(",")
        self.depth -= 1
        return values

    # value: constant | [mask] name [+ N] | [mask] generic(name) [+ N] | mask ( name [+ N] ); a mask is 0xFF with zeros
    # after it
    def initial_value(self):
        if self.token.text == "WARP_SZ":
            return expression(self)
        if self.token.kind == "word":
            return self.symbol_value()
        if self.token.kind == "number" and self.tokens[self.index + 1].text == "(":
            return self.masked_address()
        return self.constant()

    def masked_address(self) -> ast.Offset:
        token = self.token
        mask = self.integer()
        byte = (mask.bit_length() - 1) // 8 if mask else 0
        if mask != 0xFF << 8 * byte:
            raise self.error("a mask selects one byte: 0xFF, 0xFF00, ...", token)
        self.expect("(")
        if self.token.kind != "word":
            raise self.error("expected a variable")
        value = self.symbol_value()
        self.expect(")")
        offset, generic = (value.offset, value.generic) if isinstance(value, ast.Offset) else (0, False)
        return ast.Offset(value.name if isinstance(value, ast.Offset) else value.text, offset, generic, byte)
