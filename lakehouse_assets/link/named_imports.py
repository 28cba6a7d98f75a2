"""Where imports of languages other than deep Python lead: by path, as far as the language's rules are about paths."""

from collections.abc import Iterator
from itertools import accumulate
from posixpath import normpath

from lakehouse_assets.link.modules import folder_of
from lakehouse_assets.link.world import World

SCRIPTS = frozenset({"JavaScript", "TypeScript", "TSX", "JSX", "Vue", "Svelte"})
_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js")
_INCLUDING = frozenset({"C", "C++", "Objective-C", "CUDA"})
_PACKAGED = {"Java": "java", "Kotlin": "kt", "Scala": "scala", "Groovy": "groovy"}
_GO_STANDARD = frozenset(
    [
        "C",
        "archive",
        "bufio",
        "bytes",
        "cmp",
        "compress",
        "container",
        "context",
        "crypto",
        "database",
        "debug",
        "embed",
        "encoding",
        "errors",
        "expvar",
        "flag",
        "fmt",
        "go",
        "hash",
        "html",
        "image",
        "index",
        "io",
        "iter",
        "log",
        "maps",
        "math",
        "mime",
        "net",
        "os",
        "path",
        "plugin",
        "reflect",
        "regexp",
        "runtime",
        "slices",
        "sort",
        "strconv",
        "strings",
        "structs",
        "sync",
        "syscall",
        "testing",
        "text",
        "time",
        "unicode",
        "unique",
        "unsafe",
        "weak",
    ]
)
"""First names of the packages that come with Go."""
_RUST_ROOTS = ("main.rs", "lib.rs", "mod.rs")


def is_local(language: str, module: str, kind: str) -> bool:
    """Whether an import says that what it names is part of the project."""
    if language in SCRIPTS:
        return module.startswith(".")
    if language == "Rust":
        return kind == "module" or module.partition("::")[0] in ("crate", "self", "super")
    return kind == "include"


def target_of(world: World, path: str, language: str, module: str, name: str | None, kind: str) -> str | None:
    """The file that an import leads to, or None; every path that was looked for is noted, there or not."""
    if language in SCRIPTS:
        return _first_there(world, _script_places(path, module)) if module.startswith(".") else None
    if language in _INCLUDING:
        beside = normpath(f"{folder_of(path)}/{module}" if folder_of(path) else module)
        return (_first_there(world, [beside]) if kind == "include" else None) or _only(world.fact("suffix", module))
    if language in _PACKAGED:
        dotted = module if name is None or name == "*" or kind == "static" else f"{module}.{name}"
        return _only(world.fact("suffix", f"{dotted.replace('.', '/')}.{_PACKAGED[language]}"))
    if language == "Go":
        return _go_package(world, path, module)
    if language == "Rust":
        return _first_there(world, _rust_places(path, module, name, kind))
    return None


def _go_package(world: World, path: str, module: str) -> str | None:
    """A file of the package: in the folder that an import's path ends in, counted from the top or from a folder above
    the importer; else in the only folder of that name."""
    if is_go_standard(module):
        return None
    parts = module.split("/")
    tails = ["/".join(parts[i:]) for i in range(len(parts))]
    roots = [folder for folder in accumulate(folder_of(path).split("/"), "{}/{}".format) if folder]
    for tail in tails:
        for folder in (tail, *(f"{root}/{tail}" for root in roots)):
            found = go_folder(world, folder)
            if found is not None:
                return found
    return next((found for tail in tails if (found := _only(world.fact("folder", f"{tail}/.go")))), None)


def is_go_standard(module: str) -> bool:
    return module.partition("/")[0] in _GO_STANDARD


def go_folder(world: World, folder: str) -> str | None:
    """The first file of the package in a folder."""
    found: tuple[str, ...] = world.fact("folder", f"{folder}/.go") or ()
    return next((path for path in found if folder_of(path) == folder), None)


def _first_there(world: World, places: Iterator[str] | list[str]) -> str | None:
    return next((place for place in places if world.fact("path", place)), None)


def _only(found: tuple[str, ...] | None) -> str | None:
    return found[0] if found is not None and len(found) == 1 else None


def _script_places(path: str, module: str) -> Iterator[str]:
    base = normpath(f"{folder_of(path)}/{module}" if folder_of(path) else module)
    yield base
    stem = base.removesuffix(".js").removesuffix(".jsx")
    for ending in _SCRIPT_ENDINGS:
        yield f"{stem}{ending}"


def _rust_places(path: str, module: str, name: str | None, kind: str) -> Iterator[str]:
    folder, _, file = path.rpartition("/")
    if kind == "module":
        inside = folder if file in _RUST_ROOTS else path.removesuffix(".rs")
        stem = f"{inside}/{module}" if inside else module
        yield from (f"{stem}.rs", f"{stem}/mod.rs")
        return
    first, *rest = [*module.split("::"), *([name] if name and name != "*" else [])]
    if first != "crate":
        return
    root = path.partition("src/")[0] + "src" if "src/" in path else folder
    while rest:
        stem = "/".join([root, *rest])
        yield from (f"{stem}.rs", f"{stem}/mod.rs")
        rest.pop()
