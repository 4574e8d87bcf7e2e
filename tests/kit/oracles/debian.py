"""Packages of a Debian suite and all that they need, unpacked in a folder of their own beside the system.

The system's own apt finds, checks (by the archive's signatures) and fetches them from the mirror that its sources
name; nothing is installed. Only on Debian, and only for x86-64.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SOURCES = Path("/etc/apt")
_ARCHIVE = re.compile(r"(https?://\S+/debian)/?(?:\s|$)", re.MULTILINE)
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
"""Where the packages have their libraries."""


class Unavailable(Exception):
    """Why packages cannot be had here."""


def mirror() -> str:
    """The archive that this machine's apt uses. Raises Unavailable where there is none."""
    if platform.machine() != "x86_64" or shutil.which("apt-get") is None or not _KEYS.exists():
        raise Unavailable("packages of Debian are unpacked on Debian only, on x86-64, with its archive's keys")
    for path in _source_files():
        found = _ARCHIVE.search(path.read_text(errors="replace"))
        if found is not None:
            return found[1]
    raise Unavailable("no source of apt is an archive of Debian")


def _source_files() -> Iterator[Path]:
    yield from sorted(_SOURCES.glob("sources.list"))
    yield from sorted(_SOURCES.glob("sources.list.d/*"))


def unpack(suite: str, packages: Sequence[str], folder: Path) -> None:
    """Unpack packages of ``suite``, such as ``sid``, with their dependencies into ``folder``.

    Raises Unavailable, with what apt or dpkg said, if that fails; ``folder`` may then hold a part.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for part in ("state/lists/partial", "cache/archives/partial"):
            (root / part).mkdir(parents=True)
        (root / "status").touch()  # so that apt takes nothing for installed
        (root / "sources.list").write_text(f"deb [signed-by={_KEYS}] {mirror()} {suite} main\n")
        apt = ["apt-get", *_options(root)]
        _run([*apt, "update"])
        _run([*apt, "install", "--yes", "--download-only", "--no-install-recommends", *packages])
        folder.mkdir(parents=True, exist_ok=True)
        for archive in sorted((root / "cache/archives").glob("*.deb")):
            _run(["dpkg", "-x", str(archive), str(folder)])


def _options(root: Path) -> list[str]:
    settings = {"Dir::State": root / "state", "Dir::State::status": root / "status", "Dir::Cache": root / "cache",
                "Dir::Etc::sourcelist": root / "sources.list", "Dir::Etc::sourceparts": "-",
                "Dir::Etc::preferences": "-", "Dir::Etc::preferencesparts": "-", "APT::Architecture": "amd64",
                "APT::Sandbox::User": "", "Acquire::Languages": "none", "Debug::NoLocking": "1"}
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _run(command: Sequence[str]) -> None:
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if run.returncode != 0:
        raise Unavailable(f"{' '.join(command[:1])} failed: {(run.stderr or run.stdout).strip()[-500:]}")
