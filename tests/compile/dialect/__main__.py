"""Asks nvcc for its verdict on every form, and writes `verdicts.csv`: `python -m tests.compile.dialect [NAME...]`.

With names, nvcc sees only these forms. Needs nvcc 13.
"""

import csv
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compile.dialect.forms import COLUMNS, VERDICTS, Form, Verdict, read_forms, read_verdicts
from tests.support.nvidia_tools import NVCC

FLAGS = ("-std=c++17", "-arch=sm_80", "-c")
WARNING = re.compile(r"warning #(\d+-D)")
ERROR = re.compile(r"^.*?: error(?: *:)? *(.*)$|^ptxas .*?; error *: *(.*)$", re.M)


def nvcc_verdict(form: Form) -> Verdict:
    """nvcc's verdict on a form as a program of its own."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "form.cu")
        source.write_text(form.program, encoding="utf-8")
        command = [NVCC, *FLAGS, str(source), "-o", str(Path(folder, "form.o"))]
        done = subprocess.run(command, capture_output=True, text=True)
    messages = done.stdout + done.stderr
    if done.returncode:
        found = ERROR.search(messages)
        return Verdict(form.name, "rejects", (found[1] or found[2]).strip() if found else messages.strip())
    warnings = sorted(dict.fromkeys(WARNING.findall(messages)))
    return Verdict(form.name, "warns" if warnings else "accepts", " ".join(warnings))


def main():
    forms, wanted = read_forms(), sys.argv[1:]
    known = read_verdicts() if wanted else {}
    asked = [form for form in forms if not wanted or form.name in wanted]
    with ThreadPoolExecutor(2) as pool:
        known |= {verdict.form: verdict for verdict in pool.map(nvcc_verdict, asked)}
    with VERDICTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(known[form.name] for form in forms)


if __name__ == "__main__":
    main()
