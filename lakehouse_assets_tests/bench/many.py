"""Many small repositories, to be registered at once."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lakehouse_assets_tests.support.repos import Change, RepoBuilder

Files = Mapping[str | bytes, Change]


def many_repositories(folder: Path, count: int, files: Callable[[int], Files]) -> tuple[Path, list[RepoBuilder]]:
    """Repositories `r0000` and so on with the files of their numbers, and the list that `repo add --from` takes."""
    repos = [RepoBuilder(folder / "sources" / f"r{number:04}") for number in range(count)]
    for number, repo in enumerate(repos):
        repo.commit(files(number))
    listing = folder / "repositories.tsv"
    listing.write_text("".join(f"{repo.path.name}\t{repo.path}\n" for repo in repos))
    return listing, repos
