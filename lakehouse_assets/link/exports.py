"""What each file offers to those who import it."""

from dataclasses import dataclass, field

from lakehouse_assets.link.imports import Found, Imports
from lakehouse_assets.link.units import Unit


@dataclass(frozen=True, kw_only=True)
class ExportRows:
    """Columns of one file's rows of `exported_defs`; a target is a path in the world's sense and a descriptor."""

    name: list[str] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    target: list[str | None] = field(default_factory=list)
    descriptor: list[str | None] = field(default_factory=list)
    via: list[str] = field(default_factory=list)
    is_public: list[bool] = field(default_factory=list)


def exports(imports: Imports, unit: Unit) -> ExportRows:
    """Names bound in the module, and those that its stars bring."""
    rows = ExportRows()
    path = unit.path
    names = dict.fromkeys(unit.names, "")
    for name in star_names(imports, path, set()):
        names.setdefault(name, "star")
    for name in sorted(names):
        bound = unit.name(name)
        if bound is None:
            found, via = imports.attribute(path, name), "star"
        else:
            found = imports.bound(path, bound, name)
            via = "re-export" if bound.imports and not bound.definitions and not bound.flows else "own"
        if names[name] == "star" and not found:
            continue
        kind, target, descriptor = _target(path, name, found)
        rows.name.append(name)
        rows.kind.append(kind)
        rows.target.append(target)
        rows.descriptor.append(descriptor)
        rows.via.append(via)
        rows.is_public.append(imports.offers(path, name))
    return rows


def _target(path: str, name: str, found: Found) -> tuple[str, str | None, str | None]:
    """The first thing that a name leads to stands for all of them."""
    for thing in found.things:
        match thing:
            case ("f" | "c", there, descriptor):
                return "definition", there, descriptor
            case ("m", there):
                return "module", there, ""
            case ("n", _):
                return "module", None, None
    for there, _ in found.variables:
        return "variable", there, None
    return ("external" if found.things else "unresolved"), None, None


def star_names(imports: Imports, path: str, seen: set[str]) -> list[str]:
    """Names that the stars of a module may bring, through stars of stars; whether they do is for `attribute` to say."""
    found: dict[str, None] = {}
    for said in imports.world.fact("stars", path) or ():
        things = imports.landing(path, said).found.things
        target = things[0][1] if things and things[0][0] == "m" else None
        if target is None or target in seen:
            continue
        seen.add(target)
        offered = imports.world.fact("names", target) or ()
        for name in [*offered, *star_names(imports, target, seen)]:
            if imports.offers(target, name):
                found[name] = None
    return list(found)
