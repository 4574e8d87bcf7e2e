"""The cache on disk: what compilers made, found again by what it was made from.

An entry is a file whose name is the :func:`key` of everything that decides its content. Entries are written whole
and carry a checksum, so that processes need no locks: whoever is killed, and whatever happens to the files, a
reader gets the content or nothing. The files that were used last stay; older ones go when there are too many.

A cache never fails. If its folder cannot be used, nothing is kept.

Entries hold native code, which runs in this process. So only what belongs to this user and nobody else can write to is
read: the folders on the way, and each file when it is open. What is not so is left alone, neither read nor replaced,
and said once.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from coopmat.support.files import replace
from coopmat.support.version import __version__

CACHE_VARIABLE = "COOPMAT_CACHE_DIR"
OFF = "off"
"""The value that turns the cache off, in place of a folder."""

MAX_BYTES = 256 * 2**20

_FOLDER = "compiled"  # inside of the cache's folder, which may hold other things
_SHARDS = "0123456789abcdef"  # one folder per first digit of a key; each is kept below its part of the limit
_BLOCK = 4096  # what a small file takes on disk
_CHECKSUM_BYTES = 16


# --------------------------------------------------------------------------------------
# Keys
# --------------------------------------------------------------------------------------


def key(*parts: str | bytes) -> str:
    """The name of what this version of the package makes from ``parts``; the first says what it is."""
    digest = hashlib.blake2b(digest_size=20)
    for part in (_PACKAGE, *parts):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def content_digest(content: bytes) -> str:
    """What stands for the content of a file in a record."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def _package_state() -> str:
    """The version, and of each source file and library the size and the time of its last change: an edit counts as a
    version."""
    root = Path(__file__).parent.parent
    states = [__version__]
    with suppress(OSError):
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".py", ".zip")):
                    found = os.stat(os.path.join(folder, name))
                    states.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return "\n".join(states)


# Taken when the package is imported: a file that changes later is not what this process runs.
_PACKAGE = _package_state()


# --------------------------------------------------------------------------------------
# The cache
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """How much a cache holds."""

    entries: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        count = "1 entry" if self.entries == 1 else f"{self.entries:,} entries"
        size = f"{self.bytes / 2**20:,.1f} MiB" if self.bytes >= 2**20 else f"{self.bytes // 2**10} KiB"
        return f"{count}, {size}"


class Cache:
    """A folder of entries of at most ``max_bytes`` together; without a folder, nothing is kept.

    ``quiet``: it is not worth a message that the folder cannot be used.
    """

    def __init__(self, folder: Path | None, max_bytes: int = MAX_BYTES, *, quiet: bool = False) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._entries = folder / _FOLDER if folder is not None else None
        self._quiet = quiet

    def get(self, name: str) -> bytes | None:
        """The content that was kept under a key; None if there is none."""
        path = self._path(name)
        if path is None:
            return None
        try:
            stored = _read_own(path)
        except PermissionError as error:
            self._complain(path, error.strerror or str(error))
            return None
        except (OSError, ValueError):  # ValueError: a name that no file can have
            return None
        content = stored[_CHECKSUM_BYTES:]
        if stored[:_CHECKSUM_BYTES] != _checksum(name, content):
            self.remove(name)
            return None
        _mark_used(path)
        return content

    def put(self, name: str, content: bytes) -> None:
        """Keep ``content`` under a key, if possible."""
        if self._entries is None or _CHECKSUM_BYTES + len(content) > self._shard_limit:
            return
        try:
            if self._path(name) is None:
                return
            for folder in self._folders(name):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._path(name)  # somebody may have been faster
            if path is None:
                return
            distrust = _distrust(path)
            if distrust is not None:
                self._complain(path, distrust)
                return
            replace(path, _checksum(name, content) + content, mode=0o600)
            _mark_used(path)
            self._shrink(path.parent)
        except FileNotFoundError:
            pass  # another process emptied the cache in between
        except (OSError, ValueError) as error:  # ValueError: a name that no folder can have
            self._complain(self._entries, getattr(error, "strerror", None) or str(error), is_quiet=self._quiet)

    def unusable(self) -> str | None:
        """Why nothing can be kept; None if it can, as far as one can tell without doing so."""
        if self._entries is None:
            return "it is turned off"
        foreign = self._foreign(*self._folders())
        if foreign is not None:
            where, reason = foreign
            return f"'{where}': {reason}"
        present = next(folder for folder in (self._entries, *self._entries.parents) if os.path.lexists(folder))
        if not present.is_dir():
            return f"'{present}' is not a folder"
        return None if os.access(present, os.W_OK | os.X_OK) else f"'{present}' cannot be written to"

    def remove(self, name: str) -> None:
        """Forget what is kept under a key."""
        path = self._path(name)
        if path is not None:
            with suppress(OSError):
                path.unlink()

    def usage(self) -> Usage:
        """How much there is."""
        found = [entry for shard in self._shards() for entry in _files(shard)]
        return Usage(len(found), sum(entry.size for entry in found))

    def clear(self) -> Usage:
        """Forget everything; returns how much it was."""
        before = self.usage()
        for shard in self._shards():
            for entry in list(_files(shard)):
                with suppress(OSError):
                    entry.path.unlink()
        return before

    @property
    def _shard_limit(self) -> int:
        return self.max_bytes // len(_SHARDS)

    def _folders(self, name: str | None = None) -> list[Path]:
        """The folders on the way to an entry, or to all of them."""
        if self.folder is None or self._entries is None:
            return []
        return [self.folder, self._entries, *([self._entries / name[0]] if name is not None else [])]

    def _path(self, name: str) -> Path | None:
        """The file of an entry; None if there is no folder for it, or one that others could have written to."""
        folders = self._folders(name)
        if not folders:
            return None
        foreign = self._foreign(*folders)
        if foreign is not None:
            self._complain(*foreign)
            return None
        return folders[-1] / name[1:]

    def _shards(self) -> list[Path]:
        if self._entries is None or self._foreign(*self._folders()) is not None:
            return []
        return [self._entries / shard for shard in _SHARDS]

    @staticmethod
    def _foreign(root: Path, *inner: Path) -> tuple[Path, str] | None:
        """The first of the folders that this user cannot trust, and why; None if all are good, or do not exist."""
        try:
            reason = _distrust_of_root(os.stat(root))
        except (OSError, ValueError):  # ValueError: a name that no folder can have
            return None
        if reason is not None:
            return root, reason
        return next(((folder, reason) for folder in inner
                     if (reason := _distrust(folder, stat.S_ISDIR, "a folder")) is not None), None)

    def _shrink(self, shard: Path) -> None:
        """Remove what was used longest ago until the rest is within the limit. What a killed process left
        half-written is a file like others here: nobody uses it, so it goes in its turn."""
        total = 0
        for entry in sorted(_files(shard), key=lambda entry: entry.last_use, reverse=True):
            total += entry.size
            if total > self._shard_limit:
                with suppress(OSError):
                    entry.path.unlink()

    def _complain(self, where: Path | str, reason: str, *, is_quiet: bool = False) -> None:
        """Say once for each folder why it is of no use."""
        if self.folder is not None and not is_quiet and self.folder not in _complaints:
            import logging

            _complaints.add(self.folder)
            logging.getLogger("coopmat").warning("coopmat: warning: compiled kernels are not kept: '%s': %s (%s=%s "
                                                 "turns the cache off)", where, reason, CACHE_VARIABLE, OFF)


_complaints: set[Path] = set()


def find_cache(folder: str | Path | None = None, environment: Mapping[str, str] = os.environ) -> Cache:
    """The cache in ``folder``, else in the one that COOPMAT_CACHE_DIR names, else in the user's folder for caches.

    ``off`` in place of a folder: none.
    """
    chosen = folder or environment.get(CACHE_VARIABLE)
    if chosen:
        return Cache(None if str(chosen) == OFF else Path(chosen))
    from platformdirs import user_cache_path

    default = user_cache_path("coopmat", appauthor=False)
    return Cache(default if default.is_absolute() else None, quiet=True)  # relative: the user has no home


# --------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size: int  # on disk, about
    last_use: int


def _files(folder: Path) -> Iterator[_File]:
    """The files in a folder; none if it cannot be read."""
    with suppress(OSError, ValueError), os.scandir(folder) as found:
        for item in found:
            with suppress(OSError):  # another process may have removed it
                state = item.stat(follow_symlinks=False)
                yield _File(Path(item.path), max(state.st_size, _BLOCK), state.st_mtime_ns)


def _mark_used(path: Path) -> None:
    """Note the time of use as the time of change; file systems may keep the latter less exactly by themselves."""
    now = time.time_ns()
    with suppress(OSError):
        os.utime(path, ns=(now, now))


def _checksum(name: str, content: bytes) -> bytes:
    """What shows that ``content`` is whole and was kept under this key."""
    return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES, key=name.encode()).digest()


def _read_own(path: Path) -> bytes:
    """The content of a file. PermissionError if it is not this user's alone: looked at when it is open, so that nobody
    can exchange it in between."""
    with open(path, "rb", opener=_open_itself) as stream:
        distrust = _distrust(stream.fileno())
        if distrust is not None:
            raise PermissionError(errno.EPERM, distrust)
        return stream.read()


def _open_itself(path: str, flags: int) -> int:
    """Open a file, and not what a symbolic link leads to; a pipe is not waited for."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _distrust(what: Path | int, is_kind: Callable[[int], bool] = stat.S_ISREG, kind: str = "a file") -> str | None:
    """Why a path or an open file is not of this kind, this user's, and writable for nobody else; None if it is all
    that, or not there."""
    try:
        state = os.fstat(what) if isinstance(what, int) else os.lstat(what)
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    if not is_kind(state.st_mode):
        return f"it is not {kind}"
    if os.name == "posix" and state.st_uid != os.getuid():
        return "it belongs to another user"
    return "others may write to it" if os.name == "posix" and state.st_mode & _OTHERS_WRITE else None


def _distrust_of_root(state: os.stat_result) -> str | None:
    """Why others may exchange what is in the folder that the cache is in; None if they cannot: it is this user's or the
    system's, and others cannot write there, or may not touch what is not theirs, as in /tmp."""
    if not stat.S_ISDIR(state.st_mode) or os.name != "posix":
        return None  # what is no folder is told by the attempt to use it
    if state.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    return "others may write to it" if state.st_mode & _OTHERS_WRITE and not state.st_mode & stat.S_ISVTX else None


_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
