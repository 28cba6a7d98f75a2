"""Which fixture a parameter of a test gets, by pytest's rules: the same file's, else the nearest `conftest.py`'s."""

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.imports import Imports, Thing, split
from lakehouse_assets.link.modules import folder_of

_CONFTEST = "conftest"


def is_test_file(path: str) -> bool:
    name = split(path)[1].rpartition("/")[2]
    return name.startswith("test") or name.endswith("_test.py")


def fixture_named(imports: Imports, path: str, name: str) -> Thing | None:
    """The function, or None if no fixture of that name can be seen from the file."""
    found = _fixture_in(imports, path, name)
    folder = folder_of(path)
    while found is None:
        conftest = imports.world.fact("at", f"{folder}/{_CONFTEST}" if folder else _CONFTEST)
        if conftest is not None and conftest != path:
            found = _fixture_in(imports, conftest, name)
        if not folder:
            break
        folder = folder_of(folder)
    return found


def _fixture_in(imports: Imports, path: str, name: str) -> Thing | None:
    for thing in imports.attribute(path, name).things:
        if thing[0] == "f":
            said = imports.world.fact("def", thing[1], thing[2])
            if said is not None and said.flags & Fun.FIXTURE:
                return thing
    return None
