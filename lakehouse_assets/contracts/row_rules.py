"""The rules that a contract has for its rows, as one pandera schema for each table.

All rules of a table are one check: polars asks them in one pass, and pandera gives the rows that break any of them.
Declared as pandera's `nullable`, `isin` and `unique`, each rule would be a query of its own: a batch of one row would
take 6.8 ms of CPU instead of 1.3, where all of a small write takes some 30. A test holds both to the same rows.

Rules that need the run (its partitions, its owners) come as boolean columns beside the rows, by the rule's name.

Cost: 0.4 s of CPU to load, in the first write of a process.
"""

from dataclasses import dataclass
from functools import lru_cache

import pandera.polars as pandera
import polars as pl
import polars.selectors as columns
from pandera.config import ValidationDepth, config_context
from pandera.errors import SchemaError, SchemaErrorReason

from lakehouse_assets.contracts.rule_names import DUPLICATE_KEY, OTHER_OWNERS, OUTSIDE
from lakehouse_assets.contracts.table import TableContract


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What each row has to hold; a row for which it is NULL holds."""

    name: str
    holds: pl.Expr


@lru_cache(maxsize=256)
def rules_of(contract: TableContract, names: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules for rows that have these columns: NULLs first, then values, then the run's, then keys."""
    present = [each for each in contract.columns if each.name in names]
    nulls = [
        Rule(name=f"{each.name} is NULL", holds=_column(each.name).is_not_null())
        for each in present
        if not each.nullable
    ]
    values = [
        Rule(name=f"{each.name} is none of {', '.join(each.one_of)}", holds=_column(each.name).is_in(each.one_of))
        for each in present
        if each.one_of
    ]
    run = [Rule(name=name, holds=~_column(name)) for name in (OUTSIDE, OTHER_OWNERS) if name in names]
    keys = [Rule(name=DUPLICATE_KEY, holds=~_column(DUPLICATE_KEY))] if DUPLICATE_KEY in names else [_unique(contract)]
    return (*nulls, *values, *run, *keys)


@lru_cache(maxsize=256)
def schema_of(contract: TableContract, names: tuple[str, ...]) -> pandera.DataFrameSchema:
    """The schema for rows that have these columns. Their types are the schema policy's matter, not a row's."""
    rules = [rule.holds.alias(rule.name) for rule in rules_of(contract, names)]
    check = pandera.Check(lambda data: data.lazyframe.select(pl.all_horizontal(rules)), name=contract.name)
    return pandera.DataFrameSchema(checks=[check], name=contract.name)


def broken_rows(contract: TableContract, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that break a rule, with all their columns. Settings that switch pandera off don't hold here."""
    schema = schema_of(contract, tuple(rows.columns))
    try:
        with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            schema.validate(rows)
    except SchemaError as refused:
        broken = refused.failure_cases
        if refused.reason_code is SchemaErrorReason.DATAFRAME_CHECK and isinstance(broken, pl.DataFrame):
            return broken
        raise  # the check itself has failed
    return rows.clear()


def _column(name: str) -> pl.Expr:
    """The column of that very name: `pl.col` would take `*` and `^a$` for patterns."""
    return columns.by_name(name).as_expr()


def _unique(contract: TableContract) -> Rule:
    """Keys with a NULL are no keys: another rule names them."""
    key = [_column(name) for name in contract.key]
    whole = pl.all_horizontal(each.is_not_null() for each in key)
    return Rule(name=DUPLICATE_KEY, holds=~(pl.struct(key).is_duplicated() & whole))
