"""What the UI asks of Dagster, asked without a browser: its GraphQL, on the address of the served UI."""

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

LOCATION = "lakehouse_assets"
REPOSITORY = {"repositoryName": "__repository__", "repositoryLocationName": LOCATION}

_BACKFILL = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}"""
_BACKFILL_AGAIN = """
mutation ($params: ReexecutionParams!) {
  reexecutePartitionBackfill(reexecutionParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}"""
_RUN = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}"""
_RUN_AGAIN = """
mutation ($params: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}"""
_BACKFILL_STATUS = """
query ($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    ... on PartitionBackfill { status runs { id status } }
    ... on PythonError { message }
  }
}"""
_RUN_MESSAGES = """
query ($id: ID!) {
  runOrError(runId: $id) { ... on Run { eventConnection(limit: 1000) { events { ... on MessageEvent { message } } } } }
}"""
_RUN_STATUS = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
_PARTITIONS = """
query ($asset: AssetKeyInput!) {
  assetNodeOrError(assetKey: $asset) {
    ... on AssetNode {
      assetPartitionStatuses {
        ... on DefaultPartitionStatuses {
          materializedPartitions failedPartitions unmaterializedPartitions materializingPartitions
        }
      }
    }
  }
}"""
_TICKS = """
query ($selector: InstigationSelector!) {
  instigationStateOrError(instigationSelector: $selector) {
    ... on InstigationState { ticks(limit: 10) { status runIds skipReason error { message } } }
  }
}"""

ENDED = ("SUCCESS", "FAILURE", "CANCELED")
BACKFILL_ENDED = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "CANCELED", "FAILED")


@dataclass(frozen=True)
class GraphQL:
    """The API of a served UI."""

    url: str

    def ask(self, query: str, **variables: Any) -> Any:
        """The only answer of a query."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=120) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        (value,) = answer["data"].values()
        return value

    def backfill(self, assets: Sequence[str], partitions: Sequence[str]) -> str:
        """Launch it; gives its id."""
        params = {"assetSelection": [{"path": [name]} for name in assets], "partitionNames": list(partitions)}
        return self._done(self.ask(_BACKFILL, params=params), "LaunchBackfillSuccess")["backfillId"]

    def backfill_again(self, backfill: str) -> str:
        """Launch what failed of it once more; gives the id of the new one."""
        params = {"parentRunId": backfill, "strategy": "FROM_FAILURE"}
        return self._done(self.ask(_BACKFILL_AGAIN, params=params), "LaunchBackfillSuccess")["backfillId"]

    def launch(self, job: str) -> str:
        """Launch a job without partitions; gives the id of its run."""
        params = {"selector": {**REPOSITORY, "pipelineName": job}, "mode": "default"}
        return self._done(self.ask(_RUN, params=params), "LaunchRunSuccess")["run"]["runId"]

    def run_again(self, run: str) -> str:
        """Re-execute it from its failure; gives the id of the new one."""
        params = {"parentRunId": run, "strategy": "FROM_FAILURE"}
        return self._done(self.ask(_RUN_AGAIN, params=params), "LaunchRunSuccess")["run"]["runId"]

    def backfill_end(self, backfill: str, seconds: float) -> dict[str, Any]:
        """The backfill once it has ended, with its runs."""
        return self._until(lambda: self.backfill_state(backfill), lambda it: it["status"] in BACKFILL_ENDED, seconds)

    def backfill_state(self, backfill: str) -> dict[str, Any]:
        return self.ask(_BACKFILL_STATUS, id=backfill)

    def run_end(self, run: str, seconds: float) -> str:
        """The status of a run once it has ended."""
        found = self._until(lambda: self.ask(_RUN_STATUS, id=run), lambda it: it["status"] in ENDED, seconds)
        return found["status"]

    def run_process(self, run: str) -> int:
        """The process that carries a run out."""
        events = self.ask(_RUN_MESSAGES, id=run)["eventConnection"]["events"]
        (found,) = {match[1] for each in events if (match := re.search(r"\(pid: (\d+)\)", each.get("message", "")))}
        return int(found)

    def partitions(self, asset: str) -> dict[str, list[str]]:
        """By state the partitions of an asset, as its page shows them."""
        found = self.ask(_PARTITIONS, asset={"path": [asset]})["assetPartitionStatuses"]
        return {name.removesuffix("Partitions"): sorted(names) for name, names in found.items()}

    def ticks(self, name: str) -> list[dict[str, Any]]:
        """The latest ticks of a schedule or a sensor."""
        return self.ask(_TICKS, selector={**REPOSITORY, "name": name})["ticks"]

    @staticmethod
    def _done(answer: dict[str, Any], wanted: str) -> dict[str, Any]:
        assert answer["__typename"] == wanted, answer
        return answer

    @staticmethod
    def _until(look: Callable[[], Any], enough: Callable[[Any], bool], seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while not enough(found := look()):
            assert time.monotonic() < deadline, f"after {seconds} s it was still {found}"
            time.sleep(1)
        return found
