"""Which modules import a module, compared with a plain reading of the `import` statements."""

import ast
from collections.abc import Iterator

from lakehouse_assets.extract.symbols import symbol_id, symbol_of
from lakehouse_assets_tests.support.linked import Linked

FILES = {
    "pkg/__init__.py": "from .helpers import LIMIT, one as one\nfrom . import views\n",
    "pkg/helpers.py": "import json\nLIMIT = 3\ndef one(): pass\ndef two(): pass\n",
    "pkg/views.py": "from .helpers import one, two\n",
    "pkg/config.py": "from . import helpers\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "from ..helpers import two as other\nfrom .. import helpers as h\n",
    "pkg/sub/star.py": "from pkg.helpers import *\n",
    "pkg/plain.py": "import pkg.helpers\n",
    "pkg/renamed.py": "import pkg.helpers as h\n",
    "pkg/late.py": "def f():\n    from pkg.helpers import LIMIT\n    return LIMIT\n",
    "pkg/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .helpers import one\n",
    "pkg/outside.py": "from .helpers import json\n",
    "pkg/missing.py": "from .helpers import nowhere\n",
    "pkg/tried.py": "try:\n    from .helpers import one\nexcept ImportError:\n    one = None\n",
    "pkg/through.py": "from pkg import one\n",
    "pkg/limited.py": "from pkg import LIMIT\n",
    "pkg/starred.py": "from pkg import *\nLIMIT\n",
    "pkg/nothing.py": "helpers = 1\n",
}
MODULES = {path: path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in FILES}


def read(path: str) -> Iterator[str]:
    """Dotted names that a file's statements import: modules, and names in them, which may be modules."""
    package = MODULES[path] if path.endswith("__init__.py") else MODULES[path].rpartition(".")[0]
    for node in ast.walk(ast.parse(FILES[path])):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name
                if each.asname is None:  # it binds the package
                    yield each.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (above, node.module or "") if part)
            yield module
            yield from (f"{module}.{each.name}" for each in node.names)


def importers(found: Linked, module: str) -> set[str]:
    path = next(path for path, name in MODULES.items() if name == module)
    rows = zip(*(found.result.links[name] for name in ("kind", "path", "dst_def")), strict=True)
    return {source for kind, source, target in rows if (kind, target) == ("IMPORT", ids(path))}


def ids(path: str) -> int:
    return symbol_id(symbol_of(path, ""))


def test_the_importers_of_a_module_are_all_files_whose_statements_name_it():
    found = Linked(FILES)
    for module in ("pkg.helpers", "pkg", "pkg.views"):
        assert importers(found, module) == {path for path in FILES if module in read(path)}, module


def test_a_statement_imports_a_module_once():
    links = Linked(FILES).result.links
    keys = [
        (path, d, n, there, target)
        for kind, path, d, n, there, target in zip(
            *(links[name] for name in ("kind", "path", "src_def", "src_n", "dst_path", "dst_def")), strict=True
        )
        if kind == "IMPORT"
    ]
    assert len(keys) == len(set(keys))


def test_an_import_that_may_fail_is_likely_and_the_others_are_certain():
    links = Linked(FILES).result.links
    rows = zip(*(links[name] for name in ("kind", "path", "dst_def", "confidence")), strict=True)
    sure = {path: how for kind, path, target, how in rows if (kind, target) == ("IMPORT", ids("pkg/helpers.py"))}
    assert {path for path, how in sure.items() if how != "certain"} == {"pkg/tried.py"}
