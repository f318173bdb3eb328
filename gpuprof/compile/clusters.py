"""`__cluster_dims__` in LLVM IR: clang hands it on as an annotation of the kernel, and LLVM wants an attribute of the function."""

import re

_TEXT = re.compile(r'^(@[\w.]+) = [^\n]* c"gpuprof\.cluster_dims ([^"]*)\\00"', re.MULTILINE)
_ANNOTATIONS = re.compile(r"^@llvm\.global\.annotations = .*\n", re.MULTILINE)
_ENTRY = re.compile(r'\{ ptr (@(?:"[^"]*"|[\w.$]+))(?:[^{},]*), ptr (@[\w.]+),')


def with_cluster_dims(ir: str) -> str:
    """The IR with `nvvm.cluster_dim` on the kernels that have cluster dimensions, and without annotations, which serve nothing else."""
    texts = dict(_TEXT.findall(ir))
    lines = _ANNOTATIONS.findall(ir)
    ir = _ANNOTATIONS.sub("", ir)
    for symbol, text in (entry for line in lines for entry in _ENTRY.findall(line)):
        if text in texts:
            ir = _mark(ir, symbol, texts[text])
    return ir


def _mark(ir: str, symbol: str, dimensions: str) -> str:
    """Attributes stand behind the parameters, in front of the group (` #4`), the debug information or the body."""
    given = [part.strip() for part in dimensions.split(",")]
    values = ",".join(given + ["1"] * (3 - len(given)))
    definition = re.compile(
        rf"^(define [^\n]*\bptx_kernel\b[^\n]*{re.escape(symbol)}\([^\n]*?\))((?: comdat| #| !dbg| \{{)[^\n]*)$", re.MULTILINE
    )
    return definition.sub(rf'\1 "nvvm.cluster_dim"="{values}"\2', ir)
