"""The kernel that hopper_descriptors.ptx was made from, with Triton 3.9: `python hopper_descriptors.py >
hopper_descriptors.ptx`.

The debug sections are left out.
"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, num_stages=3):
        acc = tl.dot(ad.load([pm * BM, k]), bd.load([k, pn * BN]), acc)
    cd.store([pm * BM, pn * BN], acc.to(tl.float16))


if __name__ == "__main__":
    pointers, numbers, blocks = dict.fromkeys("abc", "*fp16"), dict.fromkeys("MNK", "i32"), ("BM", "BN", "BK")
    source = ASTSource(mm, pointers | numbers | dict.fromkeys(blocks, "constexpr"), {(6 + k,): 64 for k in range(3)})
    text = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4}).asm["ptx"]
    print(text.partition("\t.section\t.debug_abbrev")[0].rstrip())
