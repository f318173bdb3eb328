"""`__cluster_dims__`: clang hands it on as an annotation of the kernel; it becomes the kernel's `.reqnctapercluster`.

LLVM would write that directive for sm_90 and forget it for older targets, where a launch is to say that there are no
clusters.
"""

import re

_TEXT = re.compile(r'^(@[\w.]+) = [^\n]* c"gpuprof\.cluster_dims ([^"]*)\\00"', re.MULTILINE)
_ANNOTATIONS = re.compile(r"^@llvm\.global\.annotations = .*\n", re.MULTILINE)
_ENTRY = re.compile(r'\{ ptr @("?)([^",]+)\1[^{},]*, ptr (@[\w.]+),')


def take_cluster_dims(ir: str) -> tuple[str, dict[str, str]]:
    """The IR without annotations, which serve nothing else, and the cluster dimensions of kernels: symbol -> "4, 1,
    1".
    """
    texts = dict(_TEXT.findall(ir))
    found = {}
    for line in _ANNOTATIONS.findall(ir):
        for _, symbol, text in _ENTRY.findall(line):
            if text in texts:
                given = [part.strip() for part in texts[text].split(",")]
                found[symbol] = ", ".join(given + ["1"] * (3 - len(given)))
    return _ANNOTATIONS.sub("", ir), found


def add_cluster_dims(ptx: str, dimensions: dict[str, str]) -> str:
    """The PTX with the directives behind each kernel's parameters."""
    for symbol, text in dimensions.items():
        head = re.compile(rf"(\.entry {re.escape(symbol)}\([^()]*\))")
        ptx = head.sub(rf"\1\n.explicitcluster\n.reqnctapercluster {text}", ptx)
    return ptx
