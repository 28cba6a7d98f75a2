"""Our code as an archive: the same bytes for the same code, and all that workers need of it can be read from it."""

import subprocess
import sys
from pathlib import Path

from lakehouse_assets.lake.code_archive import code_archive


def test_equal_code_gives_one_archive(tmp_path: Path):
    first = code_archive(tmp_path)
    written = first.stat().st_mtime_ns
    assert code_archive(tmp_path) == first
    assert first.stat().st_mtime_ns == written
    assert list(tmp_path.iterdir()) == [first]


def test_extractors_and_what_they_read_come_out_of_the_archive(tmp_path: Path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import lakehouse_assets.lake.checked_task as task\n"
        "from lakehouse_assets.extract.languages import classify\n"
        "from lakehouse_assets.extract.treesitter.grammars import grammar_of\n"
        "print(grammar_of('Go').language, sys.argv[1] in task.__file__)"
    )
    archive = code_archive(tmp_path)
    run = [sys.executable, "-c", code, str(archive)]
    told = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert told.stdout.split() == ["Go", "True"], told.stderr
