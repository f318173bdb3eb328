"""The package's files that a page consists of. The modules of the script are joined into one: a page is one file, and
imports nothing.

Each module becomes a function whose result is what it exports. Of imports and exports these forms are taken; names may
be on lines of their own:

    import { a, b as c } from "./file.js";
    export const a = ...;  export function a(...) {...}  export class a {...}
"""

import re
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
LAST = "print.css"  # it overrides styles of the screen

IMPORT = re.compile(r'^import \{\s+([^{}]*?),?\s+\} from "\./([a-z_]+)\.js";$', re.M)
EXPORT = re.compile(r"^export (const|function|async function|class) (\w+)", re.M)
LEFT = re.compile(r"^\s*(?:import|export)\b.*|\bimport\(.*", re.M)  # neither of them


def bundle(modules: Mapping[str, str], first: str) -> str:
    """`modules`: text by name. The result has those that `first` needs, each after what it imports. Asserts that there
    are no circles and no other forms.
    """
    order: list[str] = []
    _visit(modules, first, order, ())
    return '"use strict";\n' + "\n".join(_as_function(name, modules[name]) for name in order)


def _visit(modules: Mapping[str, str], name: str, order: list[str], above: tuple[str, ...]) -> None:
    assert name not in above, f"{' -> '.join((*above, name))}: imports in a circle"
    for _, needed in IMPORT.findall(modules[name]):
        if needed not in order:
            _visit(modules, needed, order, (*above, name))
    order.append(name)


def _as_function(name: str, text: str) -> str:
    exported = [export[1] for export in EXPORT.findall(text)]
    body = IMPORT.sub(lambda match: f"const {{ {match[1].replace(' as ', ': ')} }} = module_{match[2]};", text)
    body = EXPORT.sub(r"\1 \2", body)
    left = LEFT.search(body)
    assert not left, f"{name}.js: {left[0]}: a form that is not taken"
    return f"const module_{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();"


def read_part(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def template() -> str:
    return read_part(HERE / "page.html")


def styles() -> list[str]:
    paths = sorted((HERE / "style").glob("*.css"), key=lambda path: (path.name == LAST, path.name))
    return [read_part(path) for path in paths]


def modules() -> dict[str, str]:
    """The modules of the script, by name."""
    return {path.stem: read_part(path) for path in sorted((HERE / "script").glob("*.js"))}
