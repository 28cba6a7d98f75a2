"""Which files are worth writing together."""

from lakehouse_assets.plan.compaction import CompactionPlan, FileSize, plan_compaction
from lakehouse_assets.plan.pruning import FileFacts

SIZE = FileSize(rows=100, bytes=1_000)


def file(path: str, rows: int, owners: str = "a-z", *, repo: str = "r", size: int | None = None) -> FileFacts:
    low, _, high = owners.partition("-")
    bytes_ = rows if size is None else size
    return FileFacts(
        path=path, size=bytes_, rows=rows, partition={"repo": repo}, owner_min=low or None, owner_max=high or None
    )


def planned(*files: FileFacts, enough: int = 1) -> CompactionPlan:
    return plan_compaction("t", 3, files, SIZE, enough=enough)


def bins(plan: CompactionPlan) -> list[list[str]]:
    return [[each.path for each in one.files] for one in plan.bins]


def test_a_partition_that_fits_one_file_becomes_one():
    plan = planned(file("x", 60, "d-f"), file("y", 10, "a-b"), file("z", 10, "c-c"))
    assert (bins(plan), plan.files_after) == ([["y", "z", "x"]], 1)


def test_files_of_two_repositories_never_meet():
    assert bins(planned(file("x", 10, repo="one"), file("y", 10, repo="two"))) == []


def test_small_neighbours_are_packed_up_to_a_file_s_size_and_large_files_left_alone():
    small = [file(f"s{n}", 40, f"{n}-{n}") for n in range(5)]
    plan = planned(*small, file("large", 90, "x-z"))
    assert bins(plan) == [["s0", "s1"], ["s2", "s3"]]
    assert (plan.files, plan.small, plan.files_after) == (6, 5, 4)


def test_large_files_whose_owners_overlap_are_put_in_order():
    plan = planned(file("x", 90, "a-m"), file("y", 90, "f-q"), file("z", 90, "q-z"))
    assert bins(plan) == [["x", "y"]]
    assert (plan.bins[0].reason, plan.bins[0].makes) == ("out of order", 2)


def test_bounds_that_were_cut_short_are_no_overlap():
    assert bins(planned(file("x", 90, "a-pre\U0010ffff"), file("y", 90, "pre-z"))) == []
    assert bins(planned(file("x", 90, "a-pre\U0010ffff"), file("y", 90, "b-z"))) == [["x", "y"]]


def test_a_few_small_files_are_not_worth_a_commit():
    few = [file(f"s{n}", 1, f"{n}-{n}") for n in range(8)]
    assert bins(planned(*few, enough=8)) == []
    assert len(bins(planned(*few, file("t", 1, "9-9"), enough=8))) == 1
    assert "nothing is worth a commit" in str(planned(*few, enough=8))


def test_large_rows_count_by_their_bytes():
    assert bins(planned(file("x", 2, "a-b", size=600), file("y", 2, "c-d", size=600))) == []
    assert bins(planned(file("x", 2, "a-b", size=400), file("y", 2, "c-d", size=400))) == [["x", "y"]]


def test_what_was_compacted_is_not_compacted_again():
    plan = planned(*(file(f"s{n}", 30, f"{n}-{n}") for n in range(9)))
    assert all(one.makes == 1 for one in plan.bins)
    after = [
        file(f"c{n}", one.rows, f"{one.files[0].owner_min}-{one.files[-1].owner_max}")
        for n, one in enumerate(plan.bins)
    ]
    assert bins(planned(*after)) == []


def test_files_without_bounds_are_packed_like_others():
    assert bins(planned(file("x", 10, ""), file("y", 10, ""))) == [["x", "y"]]
