"""The body of a function, between its braces: statements, instructions and their operands (PTX ISA 4.3)."""

from dataclasses import replace

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.expressions import expression
from gpuprof.assemble.ptx.parse_variables import SPACES, VariableParser
from gpuprof.assemble.ptx.usual import LABEL, OPCODE, OPERANDS, STATEMENT, operand
from gpuprof.base.ptx_strings import unquoted
from gpuprof.errors import PtxError

_INSTRUCTION = (OPCODE, OPERANDS)  # the last group of a usual statement that is one
_CONTINUED = frozenset(",([{|+-!@")  # a line that ends with one of them continues in the next


class BodyParser(VariableParser):
    """Blocks, and the directives that may be in them."""

    # block: { { statement } }
    def block(self) -> ast.Block:
        self.expect("{")
        self.enter()
        self.statics.append({})
        block = ast.Block()
        statements = block.statements
        while True:
            if not self.is_whole:
                self.usual_statements(statements)
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
                raise self.missing("an instruction or '}'")
        self.advance()
        self.statics.pop()
        self.depth -= 1
        return block

    # label: name : [ .branchtargets labels ; | .callprototype ... ; ]
    def usual_statements(self, statements: list):
        """Reads statements as far as they are usual ones; see `usual`."""
        text, lines, starts, known = self.text, self.lines, self.where.starts, self.operands
        begin = position = self.token.offset
        match_at = STATEMENT.match
        line = self.where.line(position)
        while match := match_at(text, position):
            kind = match.lastindex
            if kind in _INSTRUCTION:
                negated, guard, opcode, written = match.group(1, 2, 3, 4)
                operands = self.usual_operands(written, known) if written else []
                if operands is None or opcode[:4] == "call":
                    break
                position = match.end()
                offset = match.start(OPCODE)
                while starts[line] <= offset:
                    line += 1
                opcode, modifiers = self.modifiers.get(opcode) or self.split(opcode)
                statements.append(
                    ast.Instruction(
                        opcode, modifiers, operands, line, offset - starts[line - 1] + 1, guard or "",
                        negated == "!", lines.current,
                    )
                )  # fmt: skip
            elif kind == LABEL:
                position = match.end()
                offset = match.start(LABEL)
                while starts[line] <= offset:
                    line += 1
                statements.append(ast.Label(match[LABEL], line))
            else:
                position = match.end()
                numbers = match.group(5, 6, 7, 8, 9, 10, 11)
                try:
                    lines.loc_of(numbers)
                except ValueError as error:
                    raise self.error(str(error)) from None
        if position > begin:
            self.continue_at(position)

    def usual_operands(self, written: str, known: dict) -> list | None:
        """The operands in a text; None where one of them is not simple."""
        operands = []
        for text in written.split(", "):
            value = known.get(text)
            if value is None:
                value = operand(text)
                if value is None:
                    return None
                known[text] = value
            operands.append(value)
        return operands

    def split(self, name: str) -> tuple[str, tuple[str, ...]]:
        """The opcode and the modifiers of an instruction's name."""
        opcode, *modifiers = name.split(".")
        result = self.modifiers[name] = opcode, tuple(modifiers)
        return result

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
        self.function_directives({})  # .noreturn, .abi_preserve N, .abi_preserve_control N
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
        elif text[1:] in SPACES:
            statements += self.inner_variables()
        elif text == ".pragma":
            self.advance()
            statements += [ast.NoUnroll()] * self.pragma()
        elif text == ".file":
            self.advance()
            self.file()
        else:
            raise self.error(f"unknown directive {text!r}")

    def inner_variables(self) -> list[ast.Variable]:
        """Variables of a block: those in memory go to the module, or the frame, under a name of their own."""
        variables = []
        for variable in self.variables():
            if variable.space in ("global", "const", "shared", "local"):
                variable = self.with_symbol(variable)
            variables.append(variable)
        return variables

    def with_symbol(self, variable: ast.Variable) -> ast.Variable:
        self.n_symbols += 1
        symbol = f"{self.function_name}::{variable.name}#{self.n_symbols}"
        if variable.initial is not None:
            variable = replace(variable, initial=[self.with_static_names(value) for value in variable.initial])
        variable = replace(variable, symbol=symbol)
        self.statics[-1][variable.name] = symbol
        if variable.space in ("global", "const"):
            self.variables_by_name[symbol] = replace(variable, name=symbol)
        return variable

    def with_static_names(self, value):
        """An initial value that may name variables of the blocks around it."""
        name = {ast.Name: "text", ast.Offset: "name"}.get(type(value))
        for names in reversed(self.statics) if name else ():
            if getattr(value, name) in names:
                return replace(value, **{name: names[getattr(value, name)]})
        return value

    # .file N "name" [, timestamp, size]
    def file(self):
        index = self.integer()
        name = self.expect_kind("string", "a file name")
        self.result.files[index] = unquoted(name[1:-1])
        while self.accept(","):
            self.integer()

    # .pragma "text"{, "text"};
    def pragma(self) -> bool:
        """Parses a pragma. True for the one that forbids to unroll loops; others are ignored."""
        keeps_loops = False
        while not self.accept(";"):
            if self.token.kind not in ("string", "punct"):
                raise self.error(f"expected a string, found {self.token.text!r}")
            keeps_loops |= self.advance().text == '"nounroll"'
        return keeps_loops

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
        try:
            self.lines.loc(file, line, column, function, call_site)
        except ValueError as error:
            raise self.error(str(error)) from None

    # position: file line column
    def position(self) -> tuple[int, int, int]:
        token = self.token
        numbers = self.integer(), self.integer(), self.integer()
        if not all(0 <= number < 1 << 32 for number in numbers):
            raise self.error("the numbers of a position are 0 to 4294967295", token)
        return numbers

    # .reg [.vN] .type name [<N>] {, name [<N>]} ;
    def registers(self) -> ast.Registers:
        token = self.token
        vector = self.vector_length()
        kind = self.type_name()
        names = []
        while True:
            name = self.expect_kind("word", "a register name")
            names.append((name, self.count() or 0))
            if not self.accept(","):
                break
        self.expect(";")
        return ast.Registers(kind, tuple(names), vector, *self.where.place(token.offset))

    # instruction: [@[!]p] opcode{.modifier} [operand {, operand}] ;
    def instruction(self) -> ast.Instruction:
        guard, negated = "", False
        if self.accept("@"):
            negated = self.accept("!")
            guard = self.expect_kind("word", "a predicate")
        token, start = self.token, self.index
        opcode, modifiers = self.split(self.expect_kind("word", "an instruction"))
        self.in_call = opcode == "call"
        operands: list = []
        if self.token.text != ";":
            if self.token.text == "}" or self.token.kind in ("dot", "end"):
                raise self.missing("';'")
            operands.append(self.operand())
            while self.token.text == ",":
                self.advance()
                operands.append(self.operand())
        if self.token.text != ";":
            raise self.unfinished(start)
        self.advance()
        return ast.Instruction(
            opcode, modifiers, operands, *self.where.place(token.offset), guard, negated, self.lines.current
        )

    def unfinished(self, start: int) -> PtxError:
        """The error for a statement without `;` that begins at a token: it ends with the first line that is not
        continued.
        """
        for index in range(start + 1, self.index):
            before, token = self.tokens[index - 1], self.tokens[index]
            is_new_line = self.where.line(token.offset) > self.where.line(before.offset)
            if is_new_line and token.kind == "word" and before.text not in _CONTINUED:
                self.index, self.token = index, token
                break
        return self.missing("';'")

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
        raise self.missing("an operand")

    def operand_list(self, opening: str, closing: str) -> tuple:
        self.expect(opening)
        self.enter()
        elements = []
        while not self.accept(closing):
            token = self.token
            elements.append(self.operand())
            if isinstance(elements[-1], ast.Offset):
                raise self.error("a sum is not allowed in a list of operands", token)
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
