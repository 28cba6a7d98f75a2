"""A repository linked from nothing by several processes, each with a part of its files.

Processes of their own, not forks: this one has threads of engines that a fork would leave halfway. They are told what
to do through their input, and tell through their output; between rounds this process only hands on what they told.

Cost: every process reads all summaries; what the parts tell is handed on as bytes, and rows come back as Arrow.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import IO, Any

import pyarrow as pa

from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.core.deep_calls import on_deep_stack
from lakehouse_assets.core.errors import LakehouseError, from_wire
from lakehouse_assets.lake.link_store import rows_by_table
from lakehouse_assets.link.parts import Part, dealt
from lakehouse_assets.link.rounds import ROUNDS
from lakehouse_assets.link.world import Load, Neighbours

FILES_A_PART = 400
"""With fewer, starting a process and reading all summaries in it would take longer than its part of the work."""
_MOST_PARTS = 8
"""Each holds the summaries of all files."""


@dataclass(frozen=True, kw_only=True)
class LinkedInParts:
    rows: dict[str, pa.Table]
    """By table."""
    solves: int


@dataclass(frozen=True, kw_only=True)
class _Process:
    process: subprocess.Popen[bytes]
    to: Connection
    back: Connection
    errors: IO[bytes]

    def send(self, data: bytes) -> None:
        try:
            self.to.send_bytes(data)
        except BrokenPipeError as error:
            raise self._failure() from error

    def receive(self) -> bytes:
        try:
            return self.back.recv_bytes()
        except EOFError as error:
            raise self._failure() from error

    def _failure(self) -> Exception:
        self.process.wait()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        return from_wire(text) or RuntimeError(f"a process that linked part of the files ended early:\n{text[-4_000:]}")


def part_count(files: int, cores: int) -> int:
    """In how many parts so many files are linked."""
    return max(1, min(cores, files // FILES_A_PART, _MOST_PARTS))


def linked_in_parts(
    *, repo: str, files: Mapping[str, str], load: Load, neighbours: Neighbours, parts: int
) -> LinkedInParts:
    """Link all files of the repository, from nothing. What is given goes to other processes, so it can be pickled."""
    job = {"repo": repo, "files": dict(files), "load": load, "neighbours": neighbours}
    with ExitStack() as stack:
        processes = [stack.enter_context(_process()) for _ in range(parts)]
        for process, mine in zip(processes, dealt(files, parts), strict=True):
            process.send(pickle.dumps((job | {"mine": mine}, parts - 1)))
        for _ in range(ROUNDS):
            told = [process.receive() for process in processes]
            for number, process in enumerate(processes):
                for other in (*told[:number], *told[number + 1 :]):
                    process.send(other)
        found = [pickle.loads(process.receive()) for process in processes]
        # A message a table, read where it lies: rows of a large repository are not held twice.
        tables = {
            name: pa.concat_tables([pa.ipc.open_stream(process.receive()).read_all() for process in processes])
            for name in found[0][0]
        }
    return LinkedInParts(rows=tables, solves=sum(solves for _, solves in found))


@contextmanager
def _process() -> Generator[_Process, None, None]:
    call = [sys.executable, "-c", f"from {__name__} import work; work()"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            to = Connection(os.dup(process.stdin.fileno()), readable=False)
            back = Connection(os.dup(process.stdout.fileno()), writable=False)
            process.stdin.close()
            try:
                with to, back:
                    yield _Process(process=process, to=to, back=back, errors=errors)
            finally:
                process.kill()


def work() -> None:
    """What each of the processes does."""
    with Connection(os.dup(0), writable=False) as orders, Connection(os.dup(1), readable=False) as back:
        os.dup2(2, 1)  # what anything prints must not get between the messages
        try:
            on_deep_stack(partial(_work, orders, back))
        except LakehouseError as error:
            sys.exit(error.to_wire())


def _work(orders: Connection, back: Connection) -> None:
    job: dict[str, Any]
    job, others = pickle.loads(orders.recv_bytes())
    with undisturbed():
        part = Part(**job)
        for number in range(ROUNDS):
            back.send_bytes(pickle.dumps(part.solve(number)))
            for _ in range(others):
                part.take(pickle.loads(orders.recv_bytes()))
        result = part.result()
        rows = rows_by_table(job["repo"], result)
        back.send_bytes(pickle.dumps((list(rows), result.solves)))
        for table in rows.values():
            back.send_bytes(_as_bytes(table))


def _as_bytes(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
