"""Runs commands of the gpuprof that PYTHONPATH names, one after the other in one process: python driver.py PLAN.json.

The plan is {"checkout": FOLDER, "commands": {NAME: [ARGUMENT, ...]}, "required": [NAME, ...]}. After a required one
that fails nothing more runs. Each command runs as `python -m gpuprof` does, in
this folder; what it prints goes to NAME.out and NAME.err, and the exit codes go to codes.json. This file belongs to no
package: it must run with any version of gpuprof.
"""

import json
import os
import runpy
import sys
from pathlib import Path


def main(path: str) -> None:
    plan = json.loads(Path(path).read_text())
    _check_checkout(Path(plan["checkout"]))
    codes = {}
    for name, arguments in plan["commands"].items():
        codes[name] = _run(name, arguments)
        if codes[name] and name in plan["required"]:
            break
    Path("codes.json").write_text(json.dumps(codes))


def _check_checkout(checkout: Path) -> None:
    import gpuprof

    found = Path(gpuprof.__file__).resolve().parent.parent
    if found != checkout.resolve():
        sys.exit(f"gpuprof comes from {found}, not from {checkout}")


def _run(name: str, arguments: list[str]) -> int:
    stdout, stderr = os.dup(1), os.dup(2)
    _redirect(1, f"{name}.out")
    _redirect(2, f"{name}.err")
    sys.argv = ["gpuprof", *arguments]
    try:
        runpy.run_module("gpuprof", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.close(stdout)
        os.close(stderr)
    return code


def _redirect(number: int, path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, number)
    os.close(file)


if __name__ == "__main__":
    main(sys.argv[1])
