"""Dagster's own SQLite storage, with its connections kept open.

Dagster opens, migrates and closes a database for each of the hundreds of events of a run, which takes longer than
everything else that a small update does. Files and tables are Dagster's: either storage reads what the other wrote.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

from dagster import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage, SqliteStorageConfig, _event_logs_directory
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import StaticPool

_KEPT = 4
"""Databases kept open: the index, and those of the latest runs."""
_BUSY_SECONDS = 30
_BATCH = 1_000
"""Events that are stored together at most."""


class KeptEventLogStorage(SqliteEventLogStorage):
    """The event log, whose databases stay open for as long as they are among the latest used."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[tuple[int, str], Engine] = {}
        self._batch: dict[str, Connection] | None = None
        self._told: dict[tuple[str, str], tuple[EventLogEntry, int]] = {}
        self._tables: set[str] = set()
        # Dagster hands events over in batches if, and only if, this says so: those of the partitions of one step.
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(_BATCH))
        super().__init__(base_dir, inst_data)
        self._db_lock = RLock()  # held by a batch while each of its events takes it

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            if self._batch is not None and shard in self._batch:
                yield self._batch[shard]
                return
            with self._engine(shard).connect() as connection, connection.begin():
                yield connection

    def _engine(self, shard: str) -> Engine:
        """By process as well: a connection must not be used on the other side of a fork."""
        key = (os.getpid(), shard)
        engine = self._engines.pop(key, None)
        if engine is None:
            engine = create_engine(
                self.conn_string_for_shard(shard),
                poolclass=StaticPool,
                connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
            )
            sqlalchemy_event.listen(engine, "connect", _written_ahead)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
        self._engines[key] = engine
        while len(self._engines) > _KEPT:
            self._engines.pop(next(iter(self._engines))).dispose()
        return engine

    def has_table(self, table_name: str) -> bool:
        """Asked with every event. A table that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def store_event(self, event: EventLogEntry) -> None:
        """Store it, and touch the run's file: who watches a run in the UI is woken by that, and a database that stays
        open writes to its log beside the file only."""
        super().store_event(event)
        os.utime(self.path_for_shard(event.run_id))

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store them in one transaction for each database: a hundred partitions would wait for the disk that often."""
        with self._db_lock, ExitStack() as open_until_the_end:
            shards = dict.fromkeys([INDEX_SHARD_NAME, *(event.run_id for event in events)])
            batch: dict[str, Connection] = {}
            for shard in shards:
                batch[shard] = open_until_the_end.enter_context(self._engine(shard).connect())
                open_until_the_end.enter_context(batch[shard].begin())
            self._batch = batch
            try:
                for event in events:
                    super().store_event(event)
                for event, event_id in self._told.values():
                    super()._store_asset_event(batch[INDEX_SHARD_NAME], event, event_id)
            finally:
                self._batch = None
                self._told.clear()
        for run_id in dict.fromkeys(event.run_id for event in events):
            os.utime(self.path_for_shard(run_id))

    def _store_asset_event(self, conn: Connection, event: EventLogEntry, event_id: int) -> None:
        """Tell the row of the asset what happened last. In a batch only the last event of each kind does: the others
        would be overwritten by it."""
        if self._batch is None:
            super()._store_asset_event(conn, event, event_id)
        elif event.dagster_event is not None and event.dagster_event.asset_key is not None:
            key = (event.dagster_event.asset_key.to_string(), event.dagster_event.event_type_value)
            self._told.pop(key, None)  # the order is that of the last ones
            self._told[key] = (event, event_id)

    def dispose(self) -> None:
        while self._engines:
            self._engines.popitem()[1].dispose()
        super().dispose()


class KeptStorage(DagsterSqliteStorage):
    """Runs, events and schedules below one folder."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = KeptEventLogStorage(_event_logs_directory(base_dir))

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: SqliteStorageConfig) -> "KeptStorage":
        return cls.from_local(inst_data=inst_data, **config_value)


def _written_ahead(connection: Any, _: Any) -> None:
    """With a write-ahead log this is as safe against a killed process, and waits for the disk once in a while only."""
    connection.execute("PRAGMA synchronous = NORMAL")
