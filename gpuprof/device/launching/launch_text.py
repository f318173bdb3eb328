"""Launches as text, as CUDA writes them: `saxpy<<<64, 256>>>(16384, 2.0, x: f32[16384]=random, f32[16384])`.

    launch   = kernel "<<<" extent "," extent ["," number ["," number]] ["," "cluster" "=" extent] ["," "dependent"]
               ["," "cache" "=" ("cold" | "warm" | "keep")] ["," "repeat" "=" number]
               ">>>" "(" [argument {"," argument}] ")" {";" expected} [";"]       (expected: launching.results)
    kernel   = part {"::" part}                        part = identifier ["<" template arguments ">"]
    extent   = number | ["dim3"] "(" number "," number ["," number] ")"
    argument = number | "true" | "false" | "null" | "nullptr" | "hex:" digits
               | element "(" number {"," number} ")" | array | name | texture | map
    texture  = ("tex" | "surf") geometry ["(" word {"," word} ")"] (array | name)
    map      = "tensormap" "(" "box" "=" lengths {"," option} ")" (array | name)
    option   = "swizzle" "=" number | "element" "=" word | "steps" "=" lengths | "fill" "=" ("zeros" | "nan")
    lengths  = number | "(" number {"," number} ")"
    array    = [name ":"] element "[" number {"," number} "]" ["=" start]
    start    = "zeros" | "ones" | "arange" | "random" | FILE.npy | '"' FILE.npy '"'
    number   = product {("+" | "-") product}           product = factor {("*" | "//" | "/") factor}
    factor   = ["-" | "+"] factor | literal | "inf" | "nan" | "(" number ")"

A geometry is one of 1d 2d 3d 1dlayered 2dlayered cube cubelayered. The words: linear, mirror, wrap, clamp, border,
normalized (coordinates), normalizedfloat (8- and 16-bit integers read as numbers up to 1), srgb. A further dimension of
1, 2 or 4 is the channels.

A map's lengths are in the array's order, outermost first; its elements are those of `isa.tensormap`.

Arithmetic is C's: a quotient of integers is an integer (`/` truncates, `//` rounds down). A shape, an extent, shared
bytes and a stream are integers.
"""

import re
from collections.abc import Collection
from typing import Any

from gpuprof.base.cache_control import MOST_REPEATS, STATES
from gpuprof.device.elements import ELEMENTS, pack_numbers
from gpuprof.device.images import TextureOptions
from gpuprof.device.launching.argument_values import (
    STARTS,
    Argument,
    ArraySpec,
    Expected,
    LaunchRequest,
    NamedArray,
    Null,
    Raw,
    Scalar,
    TensorMapSpec,
    TextureSpec,
)
from gpuprof.device.launching.config import LaunchConfig
from gpuprof.device.launching.expected_results import ResultParser
from gpuprof.device.launching.text_scanner import IDENTIFIER
from gpuprof.errors import UsageError
from gpuprof.isa.tensormap import ELEMENT_NUMBERS, SWIZZLES

OPTIONS = ("cluster", "dependent", "cache", "repeat")  # of a launch, after the stream
RESERVED = frozenset(("true", "false", "null", "nullptr", "inf", "nan", "dim3"))
GEOMETRY_WORDS = {
    "1d": "1d",
    "2d": "2d",
    "3d": "3d",
    "1dlayered": "a1d",
    "2dlayered": "a2d",
    "cube": "cube",
    "cubelayered": "acube",
}
IMAGE_WORDS = {
    f"{kind}{word}": (kind, geometry) for kind in ("tex", "surf") for word, geometry in GEOMETRY_WORDS.items()
}
# Words of a texture, and the option they set. Several address modes are those of x, y, z.
OPTION_WORDS = {
    "nearest": ("filter", "nearest"), "linear": ("filter", "linear"), "normalized": ("normalized", True),
    "srgb": ("srgb", True),
    "normalizedfloat": ("read", "normalized"), **{mode: ("address", mode) for mode in ("wrap", "clamp", "mirror",
        "border")},
}  # fmt: skip

_HEX_BYTES = re.compile(r"hex:([0-9a-fA-F]*)(?=\s*[,)])", re.ASCII)
_WORD = re.compile(r"[a-z][a-z0-9.]*", re.ASCII)
_FILE = re.compile(r'"([^"\n]*)"|([^\s,()"]+)', re.ASCII)
_TEMPLATE_TEXT = re.compile(r"[A-Za-z0-9_$:,*&<>()\[\]+\-./%!|^~ '\t]", re.ASCII)
_COMMENT = re.compile(r"^[ \t]*(?://|#)[ \t]*LAUNCH:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


def parse_launch(text: str, place: str = "") -> LaunchRequest:
    """The launch a text asks for. Raises UsageError with the text, a caret at the fault, and `place` in front."""
    return _Parser(text, place).launch()


def find_launch_comments(source: str) -> list[tuple[int, str]]:
    """(line, text) of each `// LAUNCH: ...` or `# LAUNCH: ...` comment that has a line of a source to itself, in
    order.
    """
    return [(source.count("\n", 0, match.start(1)) + 1, match.group(1)) for match in _COMMENT.finditer(source)]


def kernel_names(requests: list[LaunchRequest]) -> list[str]:
    """The kernels that launches name, each once, in order: the compiler instantiates the templates among them."""
    return list(dict.fromkeys(request.kernel for request in requests))


def normalised(kernel: str) -> str:
    """A kernel's name with one blank after each comma and no other blanks that mean nothing."""
    squeezed = re.sub(r"\s+", " ", kernel.strip())
    return re.sub(r" ?([<>,:*&()]) ?", r"\1", squeezed).replace(",", ", ")


class _Parser(ResultParser):
    """Parses launches: one method per rule of the module's grammar, down to numbers."""

    def launch(self) -> LaunchRequest:
        kernel = self.kernel()
        self.expect("<<<")
        grid = self.extent("the grid")
        self.expect(",", "between grid and block")
        block = self.extent("the block")
        shared_nbytes = stream = 0
        more = self.accept(",")
        if more and not self.at_option():
            shared_nbytes = self.integer("the number of shared bytes")
            more = self.accept(",")
        if more and not self.at_option():
            stream = self.integer("the stream")
            more = self.accept(",")
        cluster, dependent, cache, repeat = None, False, "", 0
        if more and self.at_word("cluster"):
            cluster = self.cluster()
            more = self.accept(",")
        if more and self.accept("dependent"):
            dependent, more = True, self.accept(",")
        if more and self.at_word("cache"):
            cache = self.cache()
            more = self.accept(",")
        if more and self.at_word("repeat"):
            repeat = self.repeat()
            more = self.accept(",")
        if more:
            self.fail(f"expected one of {', '.join(OPTIONS)}, in this order")
        self.expect(">>>")
        arguments = self.arguments()
        text = self.text[: self.at].strip()
        expected = self.comparisons()
        self.end("nothing may follow the launch; a comparison comes after a semicolon, as in ; y == ref.npy")
        config = LaunchConfig(grid, block, shared_nbytes, stream, cluster, dependent, cache, repeat)
        return LaunchRequest(text, kernel, config, arguments, expected, self.place)

    # {";" expected} [";"]
    def comparisons(self) -> tuple[Expected, ...]:
        comparisons = []
        while self.accept(";") and self.at < len(self.text):
            comparisons.append(self.comparison())
        return tuple(comparisons)

    def at_option(self) -> bool:
        return any(map(self.at_word, OPTIONS))

    def at_word(self, word: str) -> bool:
        self.space()
        return self.text.startswith(word, self.at)

    # "cluster" "=" extent
    def cluster(self) -> tuple[int, int, int]:
        self.expect("cluster")
        self.expect("=", "and the blocks of a cluster")
        return self.extent("the cluster")

    # "cache" "=" ("cold" | "warm" | "keep")
    def cache(self) -> str:
        self.expect("cache")
        self.expect("=", f"and one of {', '.join(STATES)}")
        self.space()
        start = self.at
        match = self.match(IDENTIFIER)
        if not match or match.group() not in STATES:
            self.fail(f"expected one of {', '.join(STATES)}", start)
        return match.group()

    # "repeat" "=" number
    def repeat(self) -> int:
        self.expect("repeat")
        self.expect("=", "and a number of timings")
        self.space()
        start = self.at
        value = self.integer("the number of timings")
        if not 1 <= value <= MOST_REPEATS:
            self.fail(f"the number of timings is 1 to {MOST_REPEATS:,}, not {value}", start)
        return value

    # kernel = part {"::" part}, part = identifier ["<" template arguments ">"]
    def kernel(self) -> str:
        self.space()
        start = self.at
        while True:
            if not self.match(IDENTIFIER):
                self.fail("expected a kernel, as in `saxpy<<<64, 256>>>(...)`")
            self.space()
            if self.text.startswith("<", self.at) and not self.text.startswith("<<<", self.at):
                self.template_arguments()
            if not self.accept("::"):
                return normalised(self.text[start : self.at])
            self.space()

    def template_arguments(self) -> None:
        """Steps over `<...>`; `>` inside parentheses does not close."""
        opened, stack = self.at, []
        while self.at < len(self.text):
            char = self.text[self.at]
            if not _TEMPLATE_TEXT.match(char):
                self.fail(f"{char!r} cannot be part of a template argument")
            if char in "<([" and not (char == "<" and "(" in stack):
                stack.append(char)
            elif (char in ")]" or (char == ">" and "(" not in stack)) and stack.pop() + char not in ("<>", "()", "[]"):
                self.fail(f"{char!r} closes nothing")
            self.at += 1
            if not stack:
                return self.space()
        self.fail("the template arguments are not closed", opened)

    # extent = number | ["dim3"] "(" number "," number ["," number] ")"
    def extent(self, what: str) -> tuple[int, int, int]:
        self.space()
        if self.text.startswith("dim3", self.at):
            self.at += len("dim3")
            self.space()
        if not self.is_tuple():
            return (self.integer(what), 1, 1)
        opened = self.at
        values = self.lengths(what)
        if len(values) > 3:
            self.fail(f"{what} has at most 3 dimensions, not {len(values)}", opened)
        return (*values, *(1,) * (3 - len(values)))

    def is_tuple(self) -> bool:
        """True when a parenthesis opens here that holds a comma: `(8, 8)`, and not `(256+255)/256`."""
        depth = 0
        for index in range(self.at, len(self.text)):
            char = self.text[index]
            depth += (char == "(") - (char == ")")
            if depth == 0:
                return False
            if char == "," and depth == 1:
                return True
        return False

    def arguments(self) -> tuple[Argument, ...]:
        self.expect("(", "before the kernel's arguments")
        if self.accept(")"):
            return ()
        arguments = [self.argument()]
        while self.accept(","):
            arguments.append(self.argument())
        self.expect(")", "after the kernel's arguments")
        return tuple(arguments)

    # argument = number | "true" | "false" | "null" | "nullptr" | "hex:" digits | element "(" ... ")" | array | name
    def argument(self) -> Argument:
        self.space()
        start = self.at
        if raw := self.match(_HEX_BYTES):
            return self.hex_bytes(raw, start)
        identifier = self.match(IDENTIFIER)
        word = identifier.group() if identifier else ""
        if word in ("true", "false"):
            return Scalar(word, word == "true")
        if word in ("null", "nullptr"):
            return Null()
        if word in IMAGE_WORDS and (self.looking_at("(") or IDENTIFIER.match(self.text, self.at)):
            return self.texture(word, start)
        if word == "tensormap" and self.looking_at("("):
            return self.tensor_map(start)
        if word and word not in RESERVED:
            return self.array_or_name(word, start)
        self.at = start
        value = self.number()
        return Scalar(self.since(start), value)

    def hex_bytes(self, raw: re.Match, start: int) -> Raw:
        if len(raw.group(1)) % 2 or not raw.group(1):
            self.fail("hex: takes two digits for each byte", start)
        return Raw(raw.group(), bytes.fromhex(raw.group(1)))

    # texture = ("tex" | "surf") geometry ["(" word {"," word} ")"] (array | name)
    def texture(self, word: str, start: int) -> TextureSpec:
        kind, geometry = IMAGE_WORDS[word]
        options: dict[str, str | bool | tuple[str, ...]] = {"geometry": geometry}
        if self.accept("("):
            self.option(options)
            while self.accept(","):
                self.option(options)
            self.expect(")", "after the words")
        if kind == "surf" and len(options) > 1:
            self.fail("a surface takes no words: it is neither filtered nor wrapped", start)
        array = self.viewed("tex2d f32[64,64]=random")
        return TextureSpec(self.since(start), array, TextureOptions(**options), kind == "surf")

    def viewed(self, example: str) -> ArraySpec | NamedArray:
        """The array that a texture or a tensor map is of."""
        self.space()
        begin = self.at
        match = self.match(IDENTIFIER)
        if not match or match.group() in RESERVED:
            self.fail(f"expected an array, as in {example}", begin)
        array = self.array_or_name(match.group(), begin)
        if not isinstance(array, ArraySpec | NamedArray):
            self.fail(f"expected an array, as in {example}", begin)
        return array

    # map = "tensormap" "(" "box" "=" lengths {"," option} ")" (array | name)
    def tensor_map(self, start: int) -> TensorMapSpec:
        self.expect("(")
        self.expect("box", "and the box that a copy moves, as in tensormap(box=(64, 32)) f32[1024,1024]")
        self.expect("=")
        options: dict[str, Any] = {"box": self.lengths("the box")}
        while self.accept(","):
            self.map_option(options)
        self.expect(")", "after the options")
        array = self.viewed("tensormap(box=(64, 32)) f32[1024,1024]")
        return TensorMapSpec(self.since(start), array, **options)

    # option = "swizzle" "=" number | "element" "=" word | "steps" "=" lengths | "fill" "=" ("zeros" | "nan")
    def map_option(self, options: dict[str, Any]) -> None:
        self.space()
        start = self.at
        match = self.match(IDENTIFIER)
        word = match.group() if match else ""
        if word not in MAP_OPTIONS:
            self.fail(f"expected one of {', '.join(MAP_OPTIONS)}", start)
        self.expect("=")
        name, read = MAP_OPTIONS[word]
        options[name] = read(self)

    def swizzle(self) -> int:
        start = self.at
        value = self.integer("the swizzle")
        if value not in SWIZZLES.values():
            self.fail(f"the swizzle is one of {', '.join(map(str, SWIZZLES.values()))}, not {value}", start)
        return value

    def map_element(self) -> str:
        return self.one_of(ELEMENT_NUMBERS)

    def fill_nan(self) -> bool:
        return self.one_of(("zeros", "nan")) == "nan"

    def one_of(self, words: Collection[str]) -> str:
        self.space()
        start = self.at
        match = self.match(_WORD)
        if not match or match.group() not in words:
            self.fail(f"expected one of {', '.join(words)}", start)
        return match.group()

    # lengths = number | "(" number {"," number} ")"
    def lengths(self, what: str) -> tuple[int, ...]:
        self.space()
        if not self.is_tuple():
            return (self.integer(what),)
        self.expect("(")
        values = [self.integer(what)]
        while self.accept(","):
            values.append(self.integer(what))
        self.expect(")", f"after {what}")
        return tuple(values)

    def steps(self) -> tuple[int, ...]:
        return self.lengths("the steps")

    def option(self, options: dict) -> None:
        self.space()
        start = self.at
        match = self.match(IDENTIFIER)
        if not match or match.group() not in OPTION_WORDS:
            self.fail(f"expected one of {', '.join(OPTION_WORDS)}", start)
        name, value = OPTION_WORDS[match.group()]
        options[name] = (*options.get("address", ()), value) if name == "address" else value

    # array = [name ":"] element "[" number {"," number} "]" ["=" start]
    def array_or_name(self, word: str, start: int) -> Argument:
        name = ""
        if self.accept(":"):
            if word in ELEMENTS:
                self.fail(f"{word} is an element type and cannot name an array", start)
            name, word = word, self.element()
        elif word not in ELEMENTS:
            if self.looking_at("[("):
                self.fail(f"unknown element type {word}; known: {' '.join(ELEMENTS)}", start)
            return NamedArray(word, word)
        elif self.accept("("):
            return self.vector(word, start)
        shape = self.shape()
        begin = self.start() if self.accept("=") else "zeros"
        return ArraySpec(self.since(start), name, word, shape, begin)

    def element(self) -> str:
        self.space()
        start = self.at
        match = self.match(IDENTIFIER)
        if not match or match.group() not in ELEMENTS:
            self.fail(f"expected an element type, one of {' '.join(ELEMENTS)}", start)
        return match.group()

    def vector(self, element: str, start: int) -> Raw:
        values = [self.number()]
        while self.accept(","):
            values.append(self.number())
        self.expect(")", "after the numbers")
        try:
            return Raw(self.since(start), pack_numbers(element, values))
        except UsageError as error:
            self.fail(str(error), start)

    def shape(self) -> tuple[int, ...]:
        self.expect("[", "and a shape, as in f32[1024]")
        extents = [self.shape_extent()]
        while self.accept(","):
            extents.append(self.shape_extent())
        self.expect("]", "after the shape")
        return tuple(extents)

    def shape_extent(self) -> int:
        self.space()
        start = self.at
        value = self.integer("an array's extent")
        if value < 1:
            self.fail(f"an array's extent is at least 1, not {value}", start)
        return value

    def start(self) -> str:
        self.space()
        start = self.at
        match = self.match(_FILE)
        word = (match.group(1) or match.group(2) or "") if match else ""
        if word not in STARTS and not word.endswith(".npy"):
            self.fail(f"expected {', '.join(STARTS)} or a .npy file", start)
        return word


# Of a tensor map: the field that an option sets, and what reads its value.
MAP_OPTIONS = {
    "swizzle": ("swizzle", _Parser.swizzle),
    "element": ("element", _Parser.map_element),
    "steps": ("steps", _Parser.steps),
    "fill": ("fill_nan", _Parser.fill_nan),
}
