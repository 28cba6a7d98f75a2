"""Every part reports to one sink; listeners hear what happens in their scope."""

import pytest

from lakehouse_assets.core.diagnostics import collecting, phase, report, seconds_by_phase


def test_a_listener_hears_what_is_reported_inside_its_scope_and_nothing_else():
    report("a", "before", "not heard")
    with collecting() as heard:
        report("a", "inside", "heard", level="warning", rows=3)
    report("a", "after", "not heard")
    assert [(d.subject, d.level, dict(d.values)) for d in heard] == [("inside", "warning", {"rows": 3})]


def test_scopes_nest():
    with collecting() as outer:
        with collecting() as inner:
            report("a", "s", "m")
        report("a", "s2", "m")
    assert [d.subject for d in inner] == ["s"]
    assert [d.subject for d in outer] == ["s", "s2"]


def test_a_phase_that_fails_is_timed_as_well():
    with collecting() as heard, pytest.raises(KeyError), phase("a", "s", "stage"):
        raise KeyError("x")
    assert list(seconds_by_phase(heard)) == ["stage"]
