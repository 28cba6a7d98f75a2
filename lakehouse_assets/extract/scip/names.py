"""Names for SCIP's numbers. A number without a name here is shown as it is: newer indexers add some."""

from collections.abc import Mapping
from types import MappingProxyType

_KIND_NAMES = (  # noqa: SIM905  # eighty quoted words would be eighty lines
    "Array Assertion AssociatedType Attribute Axiom Boolean Class Constant Constructor DataFamily Enum EnumMember "
    "Event Fact Field File Function Getter Grammar Instance Interface Key Lang Lemma Macro Method MethodReceiver "
    "Message Module Namespace Null Number Object Operator Package PackageObject Parameter ParameterLabel Pattern "
    "Predicate Property Protocol Quasiquoter SelfParameter Setter Signature Subscript String Struct Tactic Theorem "
    "ThisParameter Trait Type TypeAlias TypeClass TypeFamily TypeParameter Union Value Variable Contract Error "
    "Library Modifier AbstractMethod MethodSpecification ProtocolMethod PureVirtualMethod TraitMethod "
    "TypeClassMethod Accessor Delegate MethodAlias SingletonClass SingletonMethod StaticDataMember StaticEvent "
    "StaticField StaticMethod StaticProperty StaticVariable"
).split()

KINDS: Mapping[int, str] = MappingProxyType(
    {0: "", **dict(enumerate(_KIND_NAMES, start=1)), 84: "Extension", 85: "Mixin", 86: "Concept"}
)
KIND_NUMBERS: Mapping[str, int] = MappingProxyType({name: number for number, name in KINDS.items()})
SEVERITIES: Mapping[int, str] = MappingProxyType({0: "", 1: "error", 2: "warning", 3: "information", 4: "hint"})
TAGS: Mapping[int, str] = MappingProxyType({0: "", 1: "unnecessary", 2: "deprecated"})
ENCODINGS: Mapping[int, str] = MappingProxyType({0: "", 1: "utf-8", 2: "utf-16", 3: "utf-32"})

DEFINITION, IMPORT, WRITE, READ = 1, 2, 4, 8
"""Bits of an occurrence's roles."""


def named(names: Mapping[int, str], number: int) -> str:
    return names.get(number, str(number))
