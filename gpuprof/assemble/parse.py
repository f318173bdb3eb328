"""PTX text to `ast` values. The grammar rule stands above each method; tokens come from `tokens`, source positions go to `lines`.

References are to the PTX ISA manual 9.0, chapters 4 (syntax), 5 (state spaces, types and variables), 7 (ABI) and 11 (directives).
"""

import math
import re
import struct
from dataclasses import replace

from gpuprof.assemble import ast
from gpuprof.assemble.ast import TYPE_NBYTES
from gpuprof.assemble.expressions import CONTINUES, PRODUCT, expression, is_remainder
from gpuprof.assemble.lines import LineTable
from gpuprof.assemble.tokens import Positions, Token, tokenize
from gpuprof.errors import PtxError
from gpuprof.isa.handles import static_word

OPAQUE_TYPES = ("texref", "samplerref", "surfref")
_SPACES = ("global", "const", "shared", "local", "param", "reg")
_LINKAGE = ("extern", "visible", "weak", "common")
_FUNCTION_DIRECTIVES = {  # directive -> most numbers it may have
    "maxntid": 3, "reqntid": 3, "minnctapersm": 1, "maxnctapersm": 1, "maxnreg": 1, "noreturn": 0, "explicitcluster": 0,
    "reqnctapercluster": 3, "blocksareclusters": 0, "maxclusterrank": 1, "abi_preserve": 1, "abi_preserve_control": 1,
}  # fmt: skip
_EXTENTS = frozenset(["maxntid", "reqntid", "reqnctapercluster"])
_MOST_INITIAL_VALUES = 1 << 22
_REGISTER_RANGE = re.compile(r"(.*?)(\d+)$")


def parse(text: str, name: str = "<ptx>") -> ast.Module:
    """The module written in a PTX text. Raises PtxError with name, line and column when it is not valid PTX."""
    return _Parser(text, name).module()


class _Parser:
    def __init__(self, text: str, name: str):
        self.name = name
        self.where = Positions(text)
        self.tokens = tokenize(text, name)
        self.index = 0
        self.token = self.tokens[0]
        self.result = ast.Module(name)
        self.lines = LineTable(self.result.files, text)
        self.depth = 0
        self.aliases: list[tuple[str, str, Token]] = []
        self.in_call = False  # parentheses around operands hold arguments

    # -- tokens ----------------------------------------------------------------------------------------------------------

    def error(self, message: str, token: Token | None = None) -> PtxError:
        offset = (token or self.token).offset
        return PtxError(message, self.name, self.where.line(offset), self.where.column(offset))

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
            self.token = self.tokens[self.index]
        return token

    def accept(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, text: str) -> Token:
        if self.token.text != text or self.token.kind == "string":
            raise self.error(f"expected {text!r}, found {self.token.text!r}")
        return self.advance()

    def expect_kind(self, kind: str, what: str) -> str:
        if self.token.kind != kind:
            raise self.error(f"expected {what}, found {self.token.text!r}")
        return self.advance().text

    def integer(self) -> int:
        negative = self.accept("-")
        token = self.token
        number = self.number()
        if number.kind != "int":
            raise self.error("expected an integer", token)
        return -number.value if negative else number.value

    # number: [-] integer | float | 0fXXXXXXXX | 0dXXXXXXXXXXXXXXXX
    def number(self) -> ast.Number:
        token = self.token
        text = self.expect_kind("number", "a number")
        prefix = text[:2].lower()
        if prefix == "0f":
            return ast.Number(int(text[2:], 16), "f32")
        if prefix == "0d":
            return ast.Number(int(text[2:], 16), "f64")
        if "." in text or ("e" in text.lower() and prefix != "0x"):
            return ast.Number(struct.unpack("<Q", struct.pack("<d", float(text)))[0], "f64")
        digits = text.rstrip("U")
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        try:
            value = int(digits, 8 if octal else 0)
        except ValueError:
            raise self.error(f"{text!r} is not a number", token) from None
        return ast.Number(value)

    # -- module ----------------------------------------------------------------------------------------------------------

    # module: { module_directive | variable | function }
    def module(self) -> ast.Module:
        while self.token.kind != "end":
            if self.token.kind != "dot":
                raise self.error(f"expected a directive, found {self.token.text!r}")
            handler = _MODULE_DIRECTIVES.get(self.token.text[1:])
            if handler:
                self.advance()
                handler(self)
            else:
                self.declaration()
        self.resolve_aliases()
        if not self.result.version:
            raise self.error("no .version directive: this is not a PTX file")
        return self.result

    def version(self):
        self.result.version = self.expect_kind("number", "a version number")

    # .target sm_80, texmode_independent, debug
    def target(self):
        names = [self.expect_kind("word", "a target")]
        while self.accept(","):
            names.append(self.expect_kind("word", "a target"))
        self.result.target = names[0]

    def address_size(self):
        token = self.token
        self.result.address_bits = self.integer()
        if self.result.address_bits != 64:
            raise self.error("only .address_size 64 is supported", token)

    # .file N "name" [, timestamp, size]
    def file(self):
        index = self.integer()
        name = self.expect_kind("string", "a file name")
        self.result.files[index] = _unescape(name)
        while self.accept(","):
            self.integer()

    # .section .debug_str { ... }, which only a debugger reads; a name may have several dots
    def section(self):
        while self.token.text != "{" and self.token.kind in ("dot", "word"):
            self.advance()
        self.expect("{")
        depth = 1
        while depth:
            if self.token.kind == "end":
                raise self.error("the section is not closed")
            depth += {"{": 1, "}": -1}.get(self.token.text, 0) if self.token.kind == "punct" else 0
            self.advance()

    # .pragma "text"{, "text"};
    def pragma(self):
        while not self.accept(";"):
            if self.token.kind not in ("string", "punct"):
                raise self.error(f"expected a string, found {self.token.text!r}")
            self.advance()

    # .alias f, g;
    def alias(self):
        token = self.token
        name = self.expect_kind("word", "a function")
        self.expect(",")
        target = self.expect_kind("word", "a function")
        self.expect(";")
        self.aliases.append((name, target, token))

    def resolve_aliases(self):
        """A function's other name gets a copy of it."""
        for name, target, token in self.aliases:
            found = next((f for f in self.result.functions if f.name == target and f.body and not f.is_kernel), None)
            if found is None:
                raise self.error(f"{name} stands for {target}, which is no function of this module", token)
            self.add_function(replace(found, name=name))

    # declaration: [linkage] ( function | variable )
    def declaration(self):
        linkage = self.advance().text[1:] if self.token.text[1:] in _LINKAGE else ""
        keyword = self.token.text
        if keyword in (".entry", ".func"):
            self.advance()
            self.add_function(self.function(keyword == ".entry", linkage))
        elif self.token.kind == "dot" and keyword[1:] in _SPACES:
            for variable in self.variables(linkage):
                self.add_variable(variable)
        else:
            raise self.error(f"unknown directive {keyword!r}")

    def add_function(self, function: ast.Function):
        """A definition replaces the declaration of the same function."""
        for index, known in enumerate(self.result.functions):
            if known.name == function.name:
                if known.body and function.body:
                    raise PtxError(f"function {function.name} is defined twice", self.name, function.line, 1)
                if function.body:
                    del self.result.functions[index]
                    break
                return
        self.result.functions.append(function)

    def add_variable(self, variable: ast.Variable):
        """A definition replaces the .extern declaration of the same variable."""
        for index, known in enumerate(self.result.variables):
            if known.name == variable.name:
                if variable.linkage == "extern":
                    return
                if known.linkage != "extern":
                    raise PtxError(f"variable {variable.name} is defined twice", self.name, variable.line, 1)
                del self.result.variables[index]
                break
        self.result.variables.append(variable)

    # function: ( .entry | .func [(params)] ) name [(params)] { directive } ( ; | block )
    def function(self, is_kernel: bool, linkage: str) -> ast.Function:
        line = self.where.line(self.token.offset)
        function_directives: dict[str, tuple[int, ...]] = {}
        self.function_directives(function_directives)
        returns = self.params() if not is_kernel and self.token.text == "(" else ()
        name = self.expect_kind("word", "a function name")
        params = self.params() if self.token.text == "(" else ()
        self.function_directives(function_directives)
        function = ast.Function(name, is_kernel, params, returns, None, line, linkage, function_directives)
        if not self.accept(";"):
            self.lines.start_function(name)
            function.body = self.block()
        return function

    def function_directives(self, found: dict[str, tuple[int, ...]]):
        while self.token.kind == "dot":
            name = self.token.text[1:]
            if name == "pragma":
                self.advance()
                self.pragma()
                continue
            if name == "attribute":
                self.advance()
                self.skip_parentheses()
                continue
            if name not in _FUNCTION_DIRECTIVES:
                raise self.error(f"unknown function directive {self.token.text!r}")
            self.advance()
            numbers = []
            while self.token.kind == "number" and len(numbers) < _FUNCTION_DIRECTIVES[name]:
                numbers.append(self.directive_number(name))
                self.accept(",")
            found[name] = tuple(numbers)

    def directive_number(self, directive: str) -> int:
        token = self.token
        value = self.integer()
        if directive in _EXTENTS and not 0 < value < 1 << 31:
            raise self.error(f".{directive} {value}: an extent is 1 to 2147483647", token)
        return value

    # params: ( [ variable { , variable } ] )
    def params(self) -> tuple[ast.Variable, ...]:
        self.expect("(")
        params = []
        while not self.accept(")"):
            params.append(self.param())
            if self.token.text != ")":
                self.expect(",")
        return tuple(params)

    # param: .param [.align N] .type [.ptr [.space] [.align N]] name [ [N] ]
    def param(self) -> ast.Variable:
        line = self.where.line(self.token.offset)
        space = self.state_space()
        align = self.alignment()
        kind = self.type_name()
        is_pointer = False
        if self.accept(".ptr"):
            is_pointer = True
            if self.token.kind == "dot" and self.token.text[1:] in _SPACES:
                self.advance()
            self.alignment()
        name = self.expect_kind("word", "a parameter name")
        extents = self.extents()
        nbytes = self.size(TYPE_NBYTES[kind], extents)
        return ast.Variable(name, space, kind, nbytes, align or TYPE_NBYTES[kind], line, bool(extents), is_pointer=is_pointer)

    def state_space(self) -> str:
        space = self.token.text[1:]
        if self.token.kind != "dot" or space not in _SPACES:
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

    def type_name(self) -> str:
        kind = self.token.text[1:]
        if self.token.kind != "dot" or kind not in TYPE_NBYTES:
            raise self.error(f"expected a type, found {self.token.text!r}")
        self.advance()
        return kind

    # extents: { [ [N] ] }; the first may be left out, which is 0 here
    def extents(self) -> list[int]:
        found: list[int] = []
        while self.accept("["):
            if self.token.text == "]" and found:
                raise self.error("only the first extent may be left out")
            found.append(0 if self.token.text == "]" else self.extent())
            self.expect("]")
        return found

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

    # variables: .space [.align N] [.vN] .type name [extent] [= initial] {, ...} ;
    def variables(self, linkage: str = "") -> list[ast.Variable]:
        space = self.state_space()
        align = self.alignment()
        attribute = self.accept(".attribute")
        if attribute:
            self.skip_parentheses()
            align = self.alignment() or align
        vector = {".v2": 2, ".v4": 4}.get(self.token.text, 1)
        if vector > 1:
            self.advance()
        kind = self.type_name()
        result = []
        while True:
            line = self.where.line(self.token.offset)
            name = self.expect_kind("word", "a variable name")
            element_nbytes = TYPE_NBYTES[kind] * vector
            extents = self.extents()
            is_array = bool(extents)
            if vector > 1:
                extents.append(vector)
            initial = self.initial_of(kind, tuple(extents)) if self.accept("=") else None
            if initial is not None and extents and extents[0] == 0:
                extents[0] = -(-len(initial) // max(1, math.prod(extents[1:])))
            nbytes = self.size(TYPE_NBYTES[kind], extents)
            result.append(ast.Variable(name, space, kind, nbytes, align or element_nbytes, line, is_array, initial, linkage))
            if not self.accept(","):
                break
        self.expect(";")
        return result

    def skip_parentheses(self):
        self.expect("(")
        depth = 1
        while depth:
            if self.token.kind == "end":
                raise self.error("')' is missing")
            depth += {"(": 1, ")": -1}.get(self.token.text, 0) if self.token.kind == "punct" else 0
            self.advance()

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
            found = self.initial(inner)
            if token.text == "{":
                if len(found) > width:
                    raise self.error("more initial values than elements", token)
                if width > _MOST_INITIAL_VALUES:
                    raise self.error(f"lists of {width} initial values", token)
                found += [ast.Number(0)] * (width - len(found))
            values += found
            if len(values) > _MOST_INITIAL_VALUES:
                raise self.error(f"more than {_MOST_INITIAL_VALUES} initial values", token)
            if self.token.text != "}":
                self.expect(",")
        self.depth -= 1
        return values

    # value: constant | [mask] name [+ N] | [mask] generic(name) [+ N] | mask ( name [+ N] ); a mask is 0xFF with zeros behind
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

    # constant: [-] number, or any expression of constants (see `expressions`)
    def constant(self) -> ast.Number:
        start = self.index
        negative = self.token.text == "-" and self.accept("-")
        if self.token.kind == "number":
            number = self.number()
            if self.token.text not in CONTINUES and not is_remainder(self.token):
                return _negative(number) if negative else number
        self.index, self.token = start, self.tokens[start]
        return expression(self)

    def symbol_value(self):
        name = self.advance().text
        generic = name == "generic" and self.accept("(")
        if generic:
            name = self.expect_kind("word", "a variable")
            self.expect(")")
        offset = self.signed_offset()
        if offset or generic:
            return ast.Offset(name, offset, generic)
        return ast.Name(name)

    def signed_offset(self) -> int:
        offset = 0
        while self.token.text in ("+", "-") and self.token.kind == "punct":
            sign = -1 if self.advance().text == "-" else 1
            token = self.token
            number = expression(self, PRODUCT)
            if number.kind != "int":
                raise self.error("expected an integer", token)
            offset += sign * number.value
        return offset

    def enter(self):
        """Deeper nesting than any compiler writes is refused, so that recursion cannot run out."""
        self.depth += 1
        if self.depth > 100:
            raise self.error("nested too deeply")

    # -- bodies ----------------------------------------------------------------------------------------------------------

    # block: { { statement } }
    def block(self) -> ast.Block:
        self.expect("{")
        self.enter()
        block = ast.Block()
        statements = block.statements
        while True:
            kind, text, _ = self.token
            if kind == "word":
                self.word_statement(statements)
            elif kind == "dot":
                self.directive(statements)
            elif text == "@":
                statements.append(self.instruction())
            elif text == "{":
                statements.append(self.block())
            elif text == "}":
                break
            elif text == ";":
                self.advance()
            else:
                raise self.error(f"expected an instruction, found {text!r}")
        self.advance()
        self.depth -= 1
        return block

    # label: name : [ .branchtargets labels ; | .callprototype ... ; ]
    def word_statement(self, statements: list):
        if self.tokens[self.index + 1].text != ":":
            statements.append(self.instruction())
            return
        token = self.advance()
        self.advance()
        if self.accept(".branchtargets"):
            statements.append(ast.BranchTargets(token.text, self.names()))
        elif self.accept(".callprototype"):
            statements.append(self.prototype(token.text))
        elif self.accept(".calltargets"):
            statements.append(ast.BranchTargets(token.text, self.names()))
        else:
            statements.append(ast.Label(token.text, self.where.line(token.offset)))

    def names(self) -> tuple[str, ...]:
        names = [self.expect_kind("word", "a name")]
        while self.accept(","):
            names.append(self.expect_kind("word", "a name"))
        self.expect(";")
        return tuple(names)

    def prototype(self, name: str) -> ast.CallPrototype:
        returns = self.params() if self.token.text == "(" else ()
        self.expect_kind("word", "'_'")
        params = self.params() if self.token.text == "(" else ()
        self.accept(".noreturn")
        self.expect(";")
        return ast.CallPrototype(name, returns, params)

    def directive(self, statements: list):
        text = self.token.text
        if text == ".loc":
            self.advance()
            self.loc()
        elif text == ".reg":
            self.advance()
            statements.append(self.registers())
        elif text[1:] in _SPACES:
            statements += self.variables()
        elif text == ".pragma":
            self.advance()
            self.pragma()
        elif text == ".file":
            self.advance()
            self.file()
        else:
            raise self.error(f"unknown directive {text!r}")

    # .loc file line column [, function_name label [+ N]] [, inlined_at file line column]
    def loc(self):
        file, line, column = self.position()
        function, call_site = "", None
        while self.accept(","):
            attribute = self.expect_kind("word", "function_name or inlined_at")
            if attribute == "function_name":
                function = self.expect_kind("word", "a label")
                self.signed_offset()
            elif attribute == "inlined_at":
                call_site = self.position()
            else:
                raise self.error(f"unknown attribute {attribute!r} of .loc")
        self.lines.loc(file, line, column, function, call_site)

    # position: file line column
    def position(self) -> tuple[int, int, int]:
        token = self.token
        numbers = self.integer(), self.integer(), self.integer()
        if not all(0 <= number < 1 << 32 for number in numbers):
            raise self.error("the numbers of a position are 0 to 4294967295", token)
        return numbers

    # .reg [.vN] .type name [<N>] {, name [<N>]} ;
    def registers(self) -> ast.Registers:
        vector = {".v2": 2, ".v4": 4}.get(self.token.text, 1)
        if vector > 1:
            self.advance()
        kind = self.type_name()
        names = []
        while True:
            name = self.expect_kind("word", "a register name")
            count = 0
            if self.accept("<"):
                count = self.integer()
                self.expect(">")
                if not 0 <= count <= 1 << 20:
                    raise self.error(f"{count} registers")
            names.append((name, count))
            if not self.accept(","):
                break
        self.expect(";")
        return ast.Registers(kind, tuple(names), vector)

    # instruction: [@[!]p] opcode{.modifier} [operand {, operand}] ;
    def instruction(self) -> ast.Instruction:
        guard, negated = "", False
        if self.accept("@"):
            negated = self.accept("!")
            guard = self.expect_kind("word", "a predicate")
        token = self.token
        opcode, *modifiers = self.expect_kind("word", "an instruction").split(".")
        self.in_call = opcode == "call"
        operands: list = []
        if self.token.text != ";":
            operands.append(self.operand())
            while self.token.text == ",":
                self.advance()
                operands.append(self.operand())
        self.expect(";")
        return ast.Instruction(opcode, tuple(modifiers), operands, *self.where.place(token.offset), guard, negated, self.lines.current)

    # operand: name [| name] | name + N | -name | !name | number | [address] | {operands} | (operands)
    def operand(self):
        kind, text, _ = self.token
        if text == "WARP_SZ":
            return expression(self)
        if kind == "word":
            value = self.symbol_value()
            if self.token.text == "|":
                self.advance()
                return ast.Pair(value, ast.Name(self.expect_kind("word", "a register")))
            return value
        if kind == "number":
            return self.constant()
        if text == "[":
            return self.address()
        if text == "{":
            vector = ast.Vector(self.operand_list("{", "}"))
            return ast.Pair(vector, ast.Name(self.expect_kind("word", "a register"))) if self.accept("|") else vector
        if text == "(":
            return ast.Arguments(self.operand_list("(", ")")) if self.in_call else self.constant()
        if text in ("!", "-") and self.tokens[self.index + 1].kind == "word":
            self.advance()
            return ast.Negated(ast.Name(self.expect_kind("word", "a register")))
        if text in ("!", "-", "~"):
            return self.constant()
        raise self.error(f"expected an operand, found {text!r}")

    def operand_list(self, opening: str, closing: str) -> tuple:
        self.expect(opening)
        self.enter()
        elements = []
        while not self.accept(closing):
            elements.append(self.operand())
            if self.token.text != closing:
                self.expect(",")
        self.depth -= 1
        return tuple(elements)

    # address: [ name [+ N] ] | [ N ] | [ name, operand, ... ] as textures and tensors have
    def address(self) -> ast.Memory | ast.Indexed:
        self.expect("[")
        base = None
        offset = 0
        if self.token.kind == "word":
            value = self.symbol_value()
            base, offset = (value, 0) if isinstance(value, ast.Name) else (ast.Name(value.name), value.offset)
        else:
            token = self.token
            number = self.constant()
            if number.kind != "int":
                raise self.error("expected an integer", token)
            offset = number.value
        indices = []
        while self.accept(","):
            indices.append(self.operand())
        self.expect("]")
        self.accept(".unified")  # says of which memory the address is; nothing here depends on it
        memory = ast.Memory(base, offset)
        return ast.Indexed(memory, tuple(indices)) if indices else memory


_MODULE_DIRECTIVES = {
    "version": _Parser.version, "target": _Parser.target, "address_size": _Parser.address_size, "file": _Parser.file,
    "section": _Parser.section, "pragma": _Parser.pragma, "alias": _Parser.alias, "loc": _Parser.loc,
}  # fmt: skip


def _negative(number: ast.Number) -> ast.Number:
    sign = {"f32": 1 << 31, "f64": 1 << 63}.get(number.kind)
    return ast.Number(-number.value) if sign is None else ast.Number(number.value ^ sign, number.kind)


def _unescape(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])
