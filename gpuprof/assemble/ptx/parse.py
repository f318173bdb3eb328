"""PTX text to `ast` values. The grammar rule is above each method; tokens come from `tokens`, source positions go
to `lines`.

Four levels, each on the one before: `parse_values`, `parse_variables`, `parse_body`, and here modules and functions.
References are to the
PTX ISA manual 9.0, chapters 4 (syntax), 5 (state spaces, types and variables), 7 (ABI) and 11 (directives).
"""

import re
from dataclasses import replace

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.ast import TYPE_NBYTES
from gpuprof.assemble.ptx.parse_body import BodyParser
from gpuprof.assemble.ptx.parse_variables import SPACES
from gpuprof.base.stages import Stage, stage
from gpuprof.errors import PtxError

_LINKAGE = ("extern", "visible", "weak", "common")
_FUNCTION_DIRECTIVES = {  # directive -> most numbers it may have
    "maxntid": 3, "reqntid": 3, "minnctapersm": 1, "maxnctapersm": 1, "maxnreg": 1, "noreturn": 0, "explicitcluster": 0,
    "reqnctapercluster": 3, "maxclusterrank": 1, "abi_preserve": 1, "abi_preserve_control": 1,
}  # fmt: skip
# Tokens between two declarations, which end one that has no `;`.
_BEGINS_DECLARATION = frozenset([*_LINKAGE, *SPACES, "entry", "func", "file", "section", "alias", "tex"])
_EXTENTS = frozenset(["maxntid", "reqntid", "reqnctapercluster", "maxclusterrank"])
_VERSION = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}")


def parse(text: str, name: str = "<ptx>") -> ast.Module:
    """The module written in a PTX text. Raises PtxError with name, line and column when it is not valid PTX."""
    parser: _Parser | None = None

    def look(shown: Stage) -> None:
        shown.done = parser.token.offset if parser else 0

    with stage("reading", "characters", len(text), look=look):
        try:
            parser = _Parser(text, name, is_whole=False)
            return parser.module()
        except PtxError:
            # What is wrong first, the whole text says: a character that starts no token comes before all else.
            parser = _Parser(text, name, is_whole=True)
            return parser.module()


class _Parser(BodyParser):
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
        self.result.functions = list(self.functions.values())
        self.result.variables = list(self.variables_by_name.values())
        if not self.result.version:
            raise self.error("no .version directive: this is not a PTX file")
        return self.result

    def version(self):
        token = self.token
        self.result.version = self.expect_kind("number", "a version number")
        if not _VERSION.fullmatch(self.result.version):
            raise self.error(f".version {token.text}: expected two numbers, as in 8.0", token)

    # .target sm_80, texmode_independent, debug
    def target(self):
        names = [self.expect_kind("word", "a target")]
        while self.accept(","):
            names.append(self.expect_kind("word", "a target"))
        self.result.target, self.result.is_debug = names[0], "debug" in names

    def address_size(self):
        token = self.token
        self.result.address_bits = self.integer()
        if self.result.address_bits != 64:
            raise self.error("only .address_size 64 is supported", token)

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

    def module_pragma(self):
        self.result.keeps_loops |= self.pragma()

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
            function = self.functions.get(target)
            if function is None or not function.body or function.is_kernel:
                raise self.error(f"{name} is an alias of {target}, which is not a function of this module", token)
            self.add_function(replace(function, name=name))

    # declaration: [linkage] ( function | variable )
    def declaration(self):
        linkage = self.advance().text[1:] if self.token.text[1:] in _LINKAGE else ""
        keyword = self.token.text
        if keyword in (".entry", ".func"):
            self.advance()
            self.add_function(self.function(keyword == ".entry", linkage))
        elif keyword == ".reg" and self.is_before(3, 0):
            self.advance()
            self.result.registers.append(self.registers())
        elif keyword == ".tex" and self.is_before(1, 5):
            self.texture(linkage)
        elif self.token.kind == "dot" and keyword[1:] in SPACES:
            for variable in self.variables(linkage):
                self.add_variable(variable)
        else:
            raise self.error(f"unknown directive {keyword!r}")

    # texture: .tex ( .u32 | .u64 ) name {, name} ; before PTX 1.5
    def texture(self, linkage: str):
        self.advance()
        token = self.token
        align = self.alignment()
        if self.type_name() not in ("u32", "u64"):
            raise self.error("a .tex variable is .u32 or .u64", token)
        while True:
            line, column = self.where.place(self.token.offset)
            name = self.expect_kind("word", "a variable name")
            nbytes = TYPE_NBYTES["texref"]
            self.add_variable(
                ast.Variable(name, "global", "texref", nbytes, align or nbytes, line, linkage=linkage, column=column)
            )
            if not self.accept(","):
                break
        self.expect(";")

    def add_function(self, function: ast.Function):
        """A definition replaces the declaration of the same function."""
        known = self.functions.get(function.name)
        if known and not function.body:
            return
        if (known and known.body) or function.name in self.variables_by_name:
            raise PtxError(f"function {function.name} is defined twice", self.name, function.line, 1)
        self.functions.pop(function.name, None)
        self.functions[function.name] = function

    def add_variable(self, variable: ast.Variable):
        """A definition replaces the .extern declaration of the same variable."""
        known = self.variables_by_name.get(variable.name)
        if known and variable.linkage == "extern":
            return
        if (known and known.linkage != "extern") or variable.name in self.functions:
            raise self.variable_error(variable, "is defined twice")
        if variable.space in ("reg", "param") or (variable.space == "local" and not self.is_before(3, 0)):
            raise self.variable_error(variable, f"is .{variable.space}, which is only allowed in a function")
        self.variables_by_name.pop(variable.name, None)
        self.variables_by_name[variable.name] = variable

    def variable_error(self, variable: ast.Variable, what: str) -> PtxError:
        return PtxError(f"variable {variable.name} {what}", self.name, variable.line, variable.column)

    # function: ( .entry | .func [(params)] ) name [(params)] { directive } ( ; | block )
    def function(self, is_kernel: bool, linkage: str) -> ast.Function:
        start = self.token.offset
        line = self.where.line(start)
        function_directives: dict[str, tuple[int, ...]] = {}
        self.function_directives(function_directives)
        returns = self.params() if not is_kernel and self.token.text == "(" else ()
        name = self.expect_kind("word", "a function name")
        params = self.params() if self.token.text == "(" else ()
        self.function_directives(function_directives)
        names = [param.name for param in (*returns, *params) if param.name != "_"]
        if len(set(names)) < len(names):
            raise PtxError(f"function {name}: two parameters have the same name", self.name, line, 1)
        function = ast.Function(name, is_kernel, params, returns, None, line, linkage, function_directives)
        self.check_parameters(function)
        if self.accept(";"):
            return function
        # Compilers once wrote declarations without an end.
        if not is_kernel and (self.token.kind == "end" or self.begins_declaration()):
            return function
        if self.token.text != "{":
            raise self.missing("'{' or ';'" if not is_kernel else "'{', the body of the kernel")
        if linkage == "extern":
            raise self.error(f"function {name} is .extern, and so has no body here")
        self.lines.start_function(name)
        self.function_name = name
        function.body = self.block()
        before = self.tokens[self.index - 1] if self.index else None
        function.span = start, before.offset + 1 if before else self.token.offset
        function.positions, function.marks = self.lines.positions, tuple(self.lines.marks)
        return function

    def begins_declaration(self) -> bool:
        word = self.token.text[1:]
        if word in ("reg", "local", "param") and not self.is_before(3, 0):
            return False  # not allowed outside functions
        return self.token.kind == "dot" and word in _BEGINS_DECLARATION

    def check_parameters(self, function: ast.Function):
        """Raises PtxError for declarations that ptxas 13.0 refuses."""
        for number, param in enumerate(function.params):
            has_no_size = param.is_array and param.nbytes == 0
            if function.is_kernel and param.space != "param":
                raise self.parameter_error(param, "of a kernel is .param")
            if has_no_size and function.is_kernel:
                raise self.parameter_error(param, "of a kernel needs a size")
            if has_no_size and number < len(function.params) - 1:
                raise self.parameter_error(param, "has no size, which only the last one may leave out")
        for result in function.returns:
            if result.is_array and result.nbytes == 0:
                raise self.parameter_error(result, "is a result and needs a size")
            if len(function.returns) > 1 and result.space != "reg":
                raise self.parameter_error(result, "is one of several results, which are .reg")

    def parameter_error(self, param: ast.Variable, what: str) -> PtxError:
        return PtxError(f"parameter {param.name} {what}", self.name, param.line, param.column)

    def function_directives(self, found: dict[str, tuple[int, ...]]):
        while self.token.kind == "dot" and self.token.text[1:] not in _BEGINS_DECLARATION:
            name = self.token.text[1:]
            if name == "pragma":
                self.advance()
                if self.pragma():
                    found["nounroll"] = ()
                continue
            if name == "attribute":
                self.advance()
                self.skip_parentheses()
                continue
            if name == "blocksareclusters":
                raise self.error(
                    f"unsupported directive {self.token.text!r}: a launch's grid counts blocks here, not clusters; "
                    "leave the directive out"
                )
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


_MODULE_DIRECTIVES = {
    "version": _Parser.version, "target": _Parser.target, "address_size": _Parser.address_size, "file": _Parser.file,
    "section": _Parser.section, "pragma": _Parser.module_pragma, "alias": _Parser.alias, "loc": _Parser.loc,
}  # fmt: skip
