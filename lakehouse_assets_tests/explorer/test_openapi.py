"""The API keeps what its OpenAPI document promises, whatever it is asked."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from lakehouse_assets.explorer.endpoints import ENDPOINTS
from lakehouse_assets_tests.explorer.conftest import Explored

PATHS = [endpoint.path for endpoint in ENDPOINTS]


def check(explored: Explored, path: str, *, examples: int) -> None:
    """Ask questions that the document allows, and others that it does not, and hold the answers against it."""
    operation = schemathesis.openapi.from_url(f"{explored.served.url}/api/openapi.json")[path]["GET"]
    modes = [
        GenerationMode.POSITIVE,
        *([GenerationMode.NEGATIVE] if operation.query or operation.path_parameters else []),
    ]

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
    )
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from(modes))
        data.draw(operation.as_strategy(generation_mode=mode)).call_and_validate()

    ask()


@pytest.mark.parametrize("path", PATHS)
def test_a_few_questions_of_each_kind_are_answered_as_promised(explored: Explored, path: str):
    check(explored, path, examples=8)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_many_questions_of_each_kind_are_answered_as_promised(explored: Explored, path: str):
    check(explored, path, examples=300)
