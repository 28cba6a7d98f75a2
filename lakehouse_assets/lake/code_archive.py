"""This package as one archive, as Spark's workers on other machines get it.

Invariant: equal code gives the same bytes under the same name, which is that of its content: two processes may write
it at once, and workers never see one name with two contents. An archive is whole or not there.

Why: workers need our libraries installed, but not our code: they run the code of the process that asks them, whatever
an image holds. Cost: reading some 500 small files, a tenth of a second, where Spark is not on this machine.
"""

import hashlib
import os
import zipfile
from io import BytesIO
from pathlib import Path

import lakehouse_assets

_PACKAGE = Path(str(lakehouse_assets.__file__)).parent
_MOMENT = (1980, 1, 1, 0, 0, 0)
"""A file's time is no part of the code."""


def code_archive(folder: Path) -> Path:
    """The archive of the code as it is now, in `folder`."""
    content = _archived(_PACKAGE)
    path = folder / f"{_PACKAGE.name}-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(content)
        fresh.replace(path)
    return path


def _archived(package: Path) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for file in sorted(package.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                name = str(file.relative_to(package.parent))
                archive.writestr(zipfile.ZipInfo(name, _MOMENT), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return held.getvalue()
