"""Products that stay products, as with nvcc: one that is needed besides its sums is computed once.

LLVM's code generator would fuse a product into every sum that it is part of, and compute it once more for its other
uses. Here products lose the flag that allows it, in IR after all passes:

    %5 = fmul contract float %4, %4            %5 = fmul float %4, %4
    %6 = fadd contract float %5, %3       ->   %6 = fadd contract float %5, %3
    %7 = fsub contract float %5, %3            %7 = fsub contract float %5, %3
"""

import re
from collections import Counter

MOST_SUMS = 4  # that a product may be fused into, where it has no other use: LLVM's old rule for NVPTX

_FUNCTION = re.compile(r"^define .*?^\}\n", re.MULTILINE | re.DOTALL)
_PRODUCT = re.compile(r"^(  (%[\w.]+) = fmul )([\w ]*\bcontract )", re.MULTILINE)
_DEFINED = re.compile(r"^  %[\w.]+ = ")
_REGISTER = re.compile(r"%[\w.]+")


def keep_shared_products(ir: str) -> str:
    return _FUNCTION.sub(lambda function: _kept(function[0]), ir)


def _kept(function: str) -> str:
    products = {name for _, name, _ in _PRODUCT.findall(function)}
    uses: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    differences: Counter[str] = Counter()
    for line in function.split("\n") if products else ():
        read = _DEFINED.sub("", line)
        for name in _REGISTER.findall(read):
            if name in products:
                uses[name] += 1
                sums[name] += read.startswith("fadd ")
                differences[name] += read.startswith("fsub ")

    def keep(match: re.Match) -> str:
        n_uses, n_sums = uses[match[2]], sums[match[2]]
        may_fuse = n_uses == 1 or n_uses == n_sums <= MOST_SUMS
        in_none = n_sums == differences[match[2]] == 0  # it is `mul`, as with nvcc; without the flag, `mul.rn`
        return match[0] if may_fuse or in_none else match[1] + match[3].replace("contract ", "")

    return _PRODUCT.sub(keep, function)
