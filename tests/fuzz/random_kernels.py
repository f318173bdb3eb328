"""Random CUDA kernels that C++ defines to the last bit: integers and floats of every width, nested control flow that
differs by lane.

Signed arithmetic goes through unsigned types, shift counts are masked, division and conversion are guarded by the
functions of
PRELUDE, and every loop is bounded, so that any difference between two compilers is a mistake of one of them.
"""

from collections.abc import Callable
from random import Random

PRELUDE = """\
#ifdef __clang__
#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Weverything"
#endif
typedef unsigned char u8;
typedef short s16;
typedef int s32;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

template <class T> __device__ inline T quotient(T a, T b) { return b == 0 || (T(-1) < T(0) && b == T(-1)) ? T(a ^ b) : T(a / b); }
template <class T> __device__ inline T rest(T a, T b) { return b == 0 || (T(-1) < T(0) && b == T(-1)) ? T(a ^ T(1)) : T(a % b); }
template <class T> __device__ inline T smaller(T a, T b) { return a < b ? a : b; }
template <class T> __device__ inline T larger(T a, T b) { return a < b ? b : a; }
__device__ inline s32 to_s32(f64 x) { return x > -2147483648.0 && x < 2147483647.0 ? (s32)x : -5; }
__device__ inline u32 to_u32(f32 x) { return x > -0.5f && x < 4294967040.0f ? (u32)x : 6u; }
__device__ inline s64 to_s64(f32 x) { return x > -9e18f && x < 9e18f ? (s64)x : -7; }
__device__ inline u64 to_u64(f64 x) { return x > -0.5 && x < 1.8e19 ? (u64)x : 8u; }
__device__ inline u32 bits_of(f32 x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
__device__ inline f32 float_of(u32 x) { return __uint_as_float(x); }
"""  # noqa: E501

# where arithmetic cannot overflow
UNSIGNED = {"u8": "u32", "s16": "u32", "s32": "u32", "u32": "u32", "s64": "u64", "u64": "u64"}
BITS = {"u8": 8, "s16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64}
INTEGERS, FLOATS = tuple(BITS), ("f32", "f64")
TYPES = (*INTEGERS, *FLOATS)
NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "10",
    "31",
    "63",
    "100",
    "127",
    "128",
    "255",
    "1000",
    "32767",
    "65535",
    "0x7fffffff",
    "0xdeadbeef",
)
DECIMALS = ("0.0", "1.0", "-1.0", "0.5", "2.0", "3.25", "1e-3", "1e10", "-7.75", "16777216.0", "0.1")


class Writer:
    """Writes one kernel and the functions it calls. The same seed gives the same text."""

    def __init__(self, name: str, seed: int):
        self.name, self.random = name, Random(seed)
        self.lines: list[str] = []
        self.variables: dict[str, list[str]] = {}
        self.loops = self.indent = self.fresh = 0
        self.functions: list[tuple[str, str, list[str]]] = []  # name, result, parameters
        self.in_kernel = False

    def text(self) -> str:
        for number in range(self.random.randrange(3)):
            self._function(f"{self.name}_f{number}")
        self._kernel()
        return "\n".join(self.lines) + "\n"

    # --- functions

    def _function(self, name: str) -> None:
        result = self.random.choice(TYPES)
        parameters = [self.random.choice(TYPES) for _ in range(self.random.randint(1, 4))]
        self.variables = {kind: [] for kind in TYPES}
        for number, kind in enumerate(parameters):
            self.variables[kind].append(f"p{number}")
        signature = ", ".join(f"{kind} p{number}" for number, kind in enumerate(parameters))
        qualifier = self.random.choice(("__noinline__ ", ""))
        self._line(f"__device__ {qualifier}{result} {name}({signature})")
        self._line("{")
        self.indent += 1
        self._line(f"{result} r = {self.value(result, 1)};")
        self.variables[result].append("r")
        self._block(2, self.random.randint(1, 4))
        self._line("return r;")
        self.indent -= 1
        self._line("}\n")
        self.functions.append((name, result, parameters))

    def _kernel(self) -> None:
        self.variables = {kind: [] for kind in TYPES}
        arrays = (
            "const unsigned *a, const long long *b, const float *f, const double *d, unsigned long long *out, "
            "float *fout, double *dout"
        )
        self._line(f'extern "C" __global__ void {self.name}({arrays})')
        self._line("{")
        self.indent += 1
        self._line("const int i = blockIdx.x * blockDim.x + threadIdx.x;")
        self._line("u32 mem[8] = {a[i], 1, 2, a[i ^ 1], 4, 5, 6, (u32)i};")
        sources = {"f32": "f[i]", "f64": "d[i]", "s64": "b[i]", "u64": "b[i ^ 1]"}
        for kind in TYPES:
            for number in range(2):
                start = f"({kind}){sources.get(kind, 'a[i]')}" if number == 0 else self.value(kind, 2)
                self._declare(kind, f"{kind}_{number}", start)
        self.in_kernel = True
        names = [(kind, list(names)) for kind, names in self.variables.items()]
        self._line("{")  # `goto done` may leave a scope, but not pass a declaration in its own
        self.indent += 1
        self._block(3, self.random.randint(4, 9))
        self.indent -= 1
        self._line("}")
        self.lines.append("done:")
        row = 0
        for kind, own in names:
            for name in own if kind in BITS else ():
                self._line(f"out[16 * i + {row}] = (u64){name};")
                row += 1
        self._line("u64 sum = 0;")
        self._line("for (int k = 0; k < 8; k++) sum = sum * 31u + mem[k];")
        self._line(f"out[16 * i + {row}] = sum;")
        for number in range(2):
            self._line(f"fout[2 * i + {number}] = f32_{number};")
            self._line(f"dout[2 * i + {number}] = f64_{number};")
        self.indent -= 1
        self._line("}\n")

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def _declare(self, kind: str, name: str, value: str) -> None:
        self._line(f"{kind} {name} = {value};")
        self.variables[kind].append(name)

    # --- statements

    def _block(self, depth: int, count: int) -> None:
        """`count` statements; variables declared inside are forgotten after it."""
        outer = {kind: list(names) for kind, names in self.variables.items()}
        for _ in range(count):
            self._statement(depth)
        self.variables = outer

    def _braces(self, head: str, depth: int, count: int) -> None:
        self._line(head + " {")
        self.indent += 1
        self._block(depth, count)
        self.indent -= 1
        self._line("}")

    def _statement(self, depth: int) -> None:
        kinds: list[Callable] = [self._assign] * 5 + [self._fresh_variable] + [self._store] * self.in_kernel
        if depth > 0:
            kinds += [self._if] * 3 + [self._for, self._while, self._switch]
        if self.loops:
            kinds += [self._jump]
        if self.random.random() < 0.03:
            kinds = [self._return]
        self.random.choice(kinds)(depth)

    def _assign(self, depth: int) -> None:
        kind = self.random.choice([kind for kind in TYPES if any(self._assignable(kind))])
        self._line(f"{self.random.choice(self._assignable(kind))} = {self.value(kind, 3)};")

    def _assignable(self, kind: str) -> list[str]:
        return [name for name in self.variables[kind] if not name.startswith("k")]

    def _fresh_variable(self, depth: int) -> None:
        self.fresh += 1
        kind = self.random.choice(TYPES)
        self._declare(kind, f"v{self.fresh}", self.value(kind, 2))

    def _store(self, depth: int) -> None:
        self._line(f"mem[{self.value('u32', 1)} & 7] {self.random.choice(('=', '+=', '^='))} {self.value('u32', 2)};")

    def _if(self, depth: int) -> None:
        self._braces(f"if ({self.condition(2)})", depth - 1, self.random.randint(1, 3))
        if self.random.random() < 0.5:
            self._braces("else", depth - 1, self.random.randint(1, 3))

    def _for(self, depth: int) -> None:
        self.fresh += 1
        counter = f"k{self.fresh}"
        bound = self.random.choice((str(self.random.randint(1, 9)), f"(int)({self.value('u32', 1)} & 7)"))
        self.variables["s32"].append(counter)
        self._loop(f"for (s32 {counter} = 0; {counter} < {bound}; {counter}++)", depth)
        self.variables["s32"].remove(counter)

    def _while(self, depth: int) -> None:
        self.fresh += 1
        fuel = f"k{self.fresh}"
        self._line(f"s32 {fuel} = {self.random.randint(1, 12)};")
        self._loop(f"while ({fuel}-- > 0 && {self.condition(2)})", depth)

    def _loop(self, head: str, depth: int) -> None:
        self.loops += 1
        self._braces(head, depth - 1, self.random.randint(1, 4))
        self.loops -= 1

    def _jump(self, depth: int) -> None:
        self._line(f"if ({self.condition(1)}) {self.random.choice(('break', 'continue'))};")

    def _return(self, depth: int) -> None:
        self._line(f"if ({self.condition(1)}) {'goto done;' if self.in_kernel else 'return r;'}")

    def _switch(self, depth: int) -> None:
        loops, self.loops = self.loops, 0  # `break` would leave the switch
        cases = self.random.sample(range(12), self.random.randint(2, 7))
        self._line(f"switch ({self.value('u32', 1)} % {self.random.choice((4, 8, 12))}) {{")
        for case in cases:
            self._braces(f"case {case}:", depth - 1, 1)
            if self.random.random() < 0.8:
                self._line("break;")
        self._line("}")
        self.loops = loops

    # --- expressions

    def condition(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.3:
            return f"({self.condition(depth - 1)} {self.random.choice(('&&', '||'))} {self.condition(depth - 1)})"
        kind = self.random.choice(TYPES)
        test = (
            f"({self.value(kind, depth)} {self.random.choice(('<', '<=', '==', '!=', '>', '>='))} "
            f"{self.value(kind, depth)})"
        )
        return "!" + test if self.random.random() < 0.2 else test

    def value(self, kind: str, depth: int) -> str:
        """An expression of that type, at most `depth` levels deep."""
        if depth == 0 or self.random.random() < 0.15:
            return self._leaf(kind)
        return self.random.choice(INTEGER_FORMS if kind in BITS else FLOAT_FORMS)(self, kind, depth - 1)

    def _leaf(self, kind: str) -> str:
        if self.variables[kind] and self.random.random() < 0.8:
            return self.random.choice(self.variables[kind])
        return f"({kind}){self.random.choice(NUMBERS if kind in BITS else DECIMALS)}"

    def _call(self, kind: str, depth: int) -> str:
        usable = [function for function in self.functions if function[1] == kind]
        if not usable:
            return self._leaf(kind)
        name, _, parameters = self.random.choice(usable)
        return f"{name}({', '.join(self.value(each, min(depth, 1)) for each in parameters)})"

    def _other(self, kind: str, among: tuple[str, ...]) -> str:
        return self.random.choice([each for each in among if each != kind])


def _arithmetic(w: Writer, kind: str, depth: int) -> str:
    u, op = UNSIGNED[kind], w.random.choice("+-*&|^")
    return f"({kind})(({u}){w.value(kind, depth)} {op} ({u}){w.value(kind, depth)})"


def _shift(w: Writer, kind: str, depth: int) -> str:
    count = f"({w.value('u32', min(depth, 1))} & {BITS[kind] - 1})"
    left = f"({kind})(({UNSIGNED[kind]}){w.value(kind, depth)} << {count})"
    return w.random.choice((left, f"({kind})({w.value(kind, depth)} >> {count})"))


def _divide(w: Writer, kind: str, depth: int) -> str:
    return f"{w.random.choice(('quotient', 'rest'))}<{kind}>({w.value(kind, depth)}, {w.value(kind, depth)})"


def _divide_by_number(w: Writer, kind: str, depth: int) -> str:
    return f"({kind})({w.value(kind, depth)} {w.random.choice('/%')} {w.random.choice((2, 3, 7, 10, 16, 100))})"


def _choose(w: Writer, kind: str, depth: int) -> str:
    return f"({w.condition(depth)} ? {w.value(kind, depth)} : {w.value(kind, depth)})"


def _extreme(w: Writer, kind: str, depth: int) -> str:
    return f"{w.random.choice(('smaller', 'larger'))}<{kind}>({w.value(kind, depth)}, {w.value(kind, depth)})"


def _convert(w: Writer, kind: str, depth: int) -> str:
    other = w._other(kind, INTEGERS)
    return f"({kind}){w.value(other, depth)}"


def _from_float(w: Writer, kind: str, depth: int) -> str:
    name, source = w.random.choice(
        (("to_s32", "f64"), ("to_u32", "f32"), ("to_s64", "f32"), ("to_u64", "f64"), ("bits_of", "f32"))
    )
    return f"({kind}){name}({w.value(source, depth)})"


def _bit_function(w: Writer, kind: str, depth: int) -> str:
    a, b, wide = w.value("u32", depth), w.value("u32", depth), w.value("u64", depth)
    calls = (f"__popc({a})", f"__clz((int){a})", f"__brev({a})", f"__umulhi({a}, {b})", f"__mulhi((int){a}, "
        f"(int){b})", f"__ffs((int){a})",
             f"__popcll({wide})", f"__clzll((long long){wide})", f"__brevll({wide})", f"__umul64hi({wide}, "
                 f"{w.value('u64', 0)})",
             f"__funnelshift_l({a}, {b}, {w.value('u32', 0)})", f"__funnelshift_r({a}, {b}, {w.value('u32', 0)})",
             f"__byte_perm({a}, {b}, {w.value('u32', 0)} & 0x7777u)")  # fmt: skip
    return f"({kind}){w.random.choice(calls)}"


def _truth(w: Writer, kind: str, depth: int) -> str:
    return f"({kind}){w.condition(depth)}"


def _invert(w: Writer, kind: str, depth: int) -> str:
    return w.random.choice(
        (f"({kind})~{w.value(kind, depth)}", f"({kind})(0u - ({UNSIGNED[kind]}){w.value(kind, depth)})")
    )


def _float_arithmetic(w: Writer, kind: str, depth: int) -> str:
    return f"({w.value(kind, depth)} {w.random.choice('+-*/')} {w.value(kind, depth)})"


def _fused(w: Writer, kind: str, depth: int) -> str:
    return (
        f"{'fmaf' if kind == 'f32' else 'fma'}({w.value(kind, depth)}, {w.value(kind, depth)}, {w.value(kind, depth)})"
    )


def _float_function(w: Writer, kind: str, depth: int) -> str:
    suffix = "f" if kind == "f32" else ""
    x = w.value(kind, depth)
    one = w.random.choice(("fabs", "floor", "ceil", "trunc", "rint"))
    calls = (f"{one}{suffix}({x})", f"sqrt{suffix}(fabs{suffix}({x}))", f"-{x}")
    return f"({w.random.choice(calls)})"


def _float_extreme(w: Writer, kind: str, depth: int) -> str:
    """C++ does not say which of two zeros is the smaller one; the sum makes both +0."""
    return (
        f"({w.random.choice(('fmin', 'fmax'))}{'f' if kind == 'f32' else ''}({w.value(kind, depth)}, "
        f"{w.value(kind, depth)}) + ({kind})0)"
    )


def _from_integer(w: Writer, kind: str, depth: int) -> str:
    return f"({kind}){w.value(w.random.choice(INTEGERS), depth)}"


def _other_float(w: Writer, kind: str, depth: int) -> str:
    return f"({kind}){w.value(w._other(kind, FLOATS), depth)}"


INTEGER_FORMS = (
    _arithmetic, _arithmetic, _arithmetic, _shift, _divide, _divide_by_number, _choose, _extreme, _convert, _from_float,
    _bit_function,
    _truth, _invert, Writer._call,
)  # fmt: skip
FLOAT_FORMS = (
    _float_arithmetic, _float_arithmetic, _fused, _float_function, _float_extreme, _from_integer, _other_float, _choose,
    Writer._call,
)  # fmt: skip


def random_source(seed: int, n_kernels: int) -> str:
    """A file of kernels k0, k1..., all with the parameters of `_kernel`."""
    return PRELUDE + "".join("\n" + Writer(f"k{number}", seed * 1000 + number).text() for number in range(n_kernels))
