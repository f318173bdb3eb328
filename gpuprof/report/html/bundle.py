"""The modules of a page's script, joined into one: a page is one file, and imports nothing.

Each module becomes a function whose result is what it exports. Of imports and exports these forms are taken, each on
one line:

    import { a, b as c } from "./file.js";
    export const a = ...;  export function a(...) {...}  export class a {...}
"""

import re
from collections.abc import Mapping

IMPORT = re.compile(r'^import \{ ([^{}]*) \} from "\./([a-z_]+)\.js";$', re.M)
EXPORT = re.compile(r"^export (const|function|async function|class) (\w+)", re.M)
LEFT = re.compile(r"^\s*(?:import|export)\b.*|\bimport\(.*", re.M)  # what is neither


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
    exported = [found[1] for found in EXPORT.findall(text)]
    body = IMPORT.sub(lambda match: f"const {{ {match[1].replace(' as ', ': ')} }} = module_{match[2]};", text)
    body = EXPORT.sub(r"\1 \2", body)
    left = LEFT.search(body)
    assert not left, f"{name}.js: {left[0]}: a form that is not taken"
    return f"const module_{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();"
