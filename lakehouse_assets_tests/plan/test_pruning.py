from datetime import date

from lakehouse_assets.plan.pruning import FileFacts, Pruning, prune
from lakehouse_assets.plan.scope import Window, equal_scopes


def file(repo: str, low: str | None, high: str | None, rows: int | None = 10, size: int = 100) -> FileFacts:
    return FileFacts(size=size, rows=rows, partition={"repo": repo}, owner_min=low, owner_max=high)


FILES = (file("a", "a.py", "f.py"), file("a", "m.py", "q.py"), file("b", "a.py", "z.py"), file("a", None, None))


def test_other_partitions_are_passed_over():
    found = prune(FILES, equal_scopes("repo", ["a"]), None)
    assert found == Pruning(total=4, touched=3, unbounded=0, touched_rows=30)
    assert found.pruned == 1


def test_files_whose_bounds_rule_all_owners_out_are_passed_over_and_those_without_bounds_are_not():
    found = prune(FILES, equal_scopes("repo", ["a"]), ["n.py", "g.py"])
    assert found == Pruning(total=4, touched=2, unbounded=1, touched_rows=20, owner_ranges=(("g.py", "n.py"),))


def test_bounds_are_part_of_what_they_bound():
    for owner, touched in (("a.py", 1), ("f.py", 1), ("a", 0), ("f.pyi", 0)):
        assert prune(FILES[:1], (), [owner]).touched == touched


def test_owners_on_both_sides_of_a_file_do_not_touch_it():
    found = prune(FILES[:1], (), ["A.py", "z.py"])
    assert found.touched == 0
    assert found.owner_ranges == (("A.py", "A.py"), ("z.py", "z.py"))


def test_ranges_of_owners_go_around_files_that_have_none_of_them():
    files = [file("a", f"{first}0", f"{first}9") for first in "bdfhk"]
    files += [file("other", "d4", "d5"), file("a", None, None)]
    owners = ["f1", "a", "d2", "d7", "c", "z"]
    found = prune(files, equal_scopes("repo", ["a"]), owners)
    assert found.owner_ranges == (("a", "a"), ("c", "f1"), ("z", "z"))
    assert found.touched == 3


def test_no_scope_is_every_file_and_an_empty_table_has_none():
    assert prune(FILES, (), None).touched == 4
    assert prune((), (), None) == Pruning(total=0, touched=0, unbounded=0, touched_rows=0)


def test_rows_are_not_known_if_one_file_does_not_tell():
    assert prune((file("a", "a", "b", rows=None), *FILES), (), None).touched_rows is None


def test_a_window_keeps_files_from_its_start_on_and_before_its_end():
    days = [date(2024, 1, day) for day in (1, 2, 3)]
    files = [FileFacts(size=1, rows=1, partition={"day": day}) for day in (*days, None)]
    window = Window(column="day", start=days[0], end=days[2])
    assert prune(files, ((window,),), None).touched == 2
