"""What is packed comes back, in the parts that are asked for."""

import inspect
import json.decoder
import struct

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.packing import SCHEMAS, TABLES, TableName, pack, unpack
from lakehouse_assets.extract.python.extractor import extract_python

FACTS = {
    "a real file": extract_python(inspect.getsource(json.decoder)),
    "an empty file": extract_python(""),
    "one that cannot be parsed": extract_python("def ("),
    "one without text": Facts(language="Python", parser="none", status="failed"),
}


@pytest.mark.parametrize("name", FACTS)
def test_all_tables_come_back_as_they_were(name: str):
    facts = FACTS[name]
    tables = unpack(pack(facts))
    for table in TABLES:
        assert tables[table].schema == SCHEMAS[table]
        assert tables[table].to_pydict() == getattr(facts, table)


@pytest.mark.parametrize("table", TABLES)
def test_only_what_is_asked_for_is_read(table: TableName):
    payload = bytearray(pack(FACTS["a real file"]))
    sizes = struct.unpack_from("<4Q", payload, 3)
    at = 3 + 32
    for name, size in zip(TABLES, sizes, strict=True):
        if name != table:
            payload[at : at + size] = bytes(size)  # reading this would fail
        at += size
    assert list(unpack(bytes(payload), [table])) == [table]


def test_equal_facts_give_equal_payloads():
    source = inspect.getsource(json.decoder)
    assert pack(extract_python(source)) == pack(extract_python(source))


def test_what_is_no_payload_is_refused_by_name():
    with pytest.raises(BadInputError, match="payload"):
        unpack(b"PAR1" + bytes(100))
