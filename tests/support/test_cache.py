"""The cache on disk: what is kept comes back whole or not at all, whatever happens to the folder."""

from __future__ import annotations

import errno
import functools
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm
from coopmat.support import cache as module
from coopmat.support.cache import Cache, find_cache, key

ONE = key("one")


def entry_files(cache: Cache) -> list[Path]:
    assert cache.folder is not None
    return sorted(path for path in cache.folder.rglob("*") if path.is_file())


def same_shard(count: int) -> list[str]:
    """Keys that share their first digit, and so the limit of one folder."""
    return [f"0{index:039x}" for index in range(count)]


# ------------------------------------------------------------------------------- keys


@given(st.lists(st.text() | st.binary()), st.lists(st.text() | st.binary()))
def test_different_parts_have_different_keys(left: list[str | bytes], right: list[str | bytes]) -> None:
    plain = [[part.encode("utf-8") if isinstance(part, str) else part for part in parts] for parts in (left, right)]
    assert (key(*left) == key(*right)) == (plain[0] == plain[1])


def test_a_key_depends_on_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key("a")
    monkeypatch.setattr(module, "_PACKAGE", "another version")
    assert key("a") != before


def test_the_state_of_the_package_shows_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("cache.py", "inner/a.py", "data.txt"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "inner" / "cache.py"))
    states = [module._package_state()]
    for name, text in (("inner/a.py", "12"), ("inner/b.py", ""), ("cache.py", "123")):
        (tmp_path / name).write_text(text)
        states.append(module._package_state())
    os.utime(tmp_path / "cache.py", ns=(1, 1))
    states.append(module._package_state())
    assert len(set(states)) == len(states)
    (tmp_path / "data.txt").write_text("2")
    assert module._package_state() == states[-1]


# ------------------------------------------------------------------------------- entries


@given(st.binary(max_size=3000))
def test_what_is_kept_comes_back(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        assert cache.get(ONE) is None
        cache.put(ONE, content)
        assert cache.get(ONE) == content
        assert cache.get(key("two")) is None
        assert Cache(Path(folder)).get(ONE) == content
        cache.put(ONE, b"new")
        assert cache.get(ONE) == b"new"
        cache.remove(ONE)
        assert cache.get(ONE) is None


@given(st.data())
def test_a_damaged_entry_is_none(data: st.DataObject) -> None:
    content = b"some content that matters"
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cache.put(ONE, content)
        (file,) = entry_files(cache)
        whole = file.read_bytes()
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, len(whole)))
        damaged = whole[:start] + data.draw(st.binary(max_size=40)) + whole[end:]
        file.write_bytes(damaged)
        assert cache.get(ONE) == (content if damaged == whole else None)
        assert file.exists() == (damaged == whole)
        cache.put(ONE, content)
        assert cache.get(ONE) == content


def test_an_entry_under_the_name_of_another_is_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first, second = same_shard(2)
    cache.put(first, b"first")
    cache.put(second, b"second")
    one, two = entry_files(cache)
    one.write_bytes(two.read_bytes())
    assert cache.get(first) is None
    assert cache.get(second) == b"second"


def test_a_folder_in_place_of_an_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(ONE, b"content")
    (file,) = entry_files(cache)
    file.unlink()
    file.mkdir()
    assert cache.get(ONE) is None
    cache.put(ONE, b"content")
    assert cache.get(ONE) is None


# ------------------------------------------------------------------------------- the limit


def test_what_was_used_last_stays(tmp_path: Path) -> None:
    block = module._BLOCK
    cache = Cache(tmp_path, max_bytes=16 * 8 * block)  # eight small entries in each folder
    names = same_shard(12)
    for name in names[:8]:
        cache.put(name, name.encode())
    assert cache.get(names[0]) is not None
    assert cache.get(names[3]) is not None
    for name in names[8:]:
        cache.put(name, name.encode())
    kept = {name for name in names if cache.get(name) is not None}
    assert kept == {names[0], names[3], *names[6:8], *names[8:]}


@given(sizes=st.lists(st.integers(0, 30_000), max_size=30))
def test_the_limit_holds_and_the_last_entry_is_there(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        limit = 16 * 50_000
        cache = Cache(Path(folder), max_bytes=limit)
        for index, (size, name) in enumerate(zip(sizes, same_shard(len(sizes)), strict=True)):
            cache.put(name, bytes([index]) * size)
            assert cache.get(name) == bytes([index]) * size
            assert cache.usage().bytes <= limit / 16


def test_an_entry_beyond_the_limit_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=16 * 1000)
    cache.put(ONE, bytes(1000))
    assert cache.get(ONE) is None
    assert cache.usage().entries == 0


def test_half_written_files_go_in_their_turn(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=16 * 4 * module._BLOCK)
    names = same_shard(5)
    cache.put(names[0], b"0")
    remnant = entry_files(cache)[0].with_name(".coopmat-0123456789ab.tmp")
    remnant.write_bytes(b"half")
    os.utime(remnant, ns=(1, 1))
    for name in names[1:4]:
        cache.put(name, b"more")
    assert not remnant.exists()
    assert all(cache.get(name) for name in names[:4])


def test_usage_and_clear(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("not of the cache")
    cache = Cache(tmp_path)
    assert str(cache.usage()) == "0 entries, 0 KiB"
    assert str(cache.clear()) == "0 entries, 0 KiB"
    for index in range(40):
        cache.put(key(str(index)), bytes(100_000))
    assert str(cache.usage()) == "40 entries, 3.8 MiB"
    assert str(cache.clear()) == "40 entries, 3.8 MiB"
    assert cache.usage().entries == 0
    assert all(cache.get(key(str(index))) is None for index in range(40))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine.txt"]


# ------------------------------------------------------------------------------- folders that cannot be used


def test_a_cache_that_is_off() -> None:
    cache = Cache(None)
    cache.put(ONE, b"content")
    cache.remove(ONE)
    assert cache.get(ONE) is None
    assert cache.usage() == cache.clear() == module.Usage()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_only_the_user_can_look_into_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    cache = Cache(tmp_path / "a" / "b")
    cache.put(ONE, b"content")
    assert (tmp_path / "a" / "b" / "compiled").stat().st_mode & 0o777 == 0o700


def _writable(folder: Path) -> None:
    folder.chmod(0o770)


def _foreign(folder: Path) -> None:
    try:
        os.chown(folder, 12345, -1)
    except PermissionError:
        pytest.skip("only root can give a folder away")


def _link(path: Path) -> None:
    elsewhere = path.with_name(f"elsewhere-{path.name}")
    is_folder = path.is_dir()
    path.rename(elsewhere)
    path.symlink_to(elsewhere.name, target_is_directory=is_folder)


def _file(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
@pytest.mark.parametrize("spoil", [_writable, _foreign, _link, _file])
def test_a_folder_that_others_may_have_written_to_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                                              spoil: Callable[[Path], None]) -> None:
    cache = Cache(tmp_path)
    cache.put(ONE, b"content")
    spoil(tmp_path / "compiled")
    before = sorted(tmp_path.rglob("*"))
    assert cache.get(ONE) is None
    cache.put(key("two"), b"content")
    cache.put(key("three"), b"content")
    assert cache.usage() == cache.clear() == module.Usage()
    assert sorted(tmp_path.rglob("*")) == before
    (record,) = caplog.records
    assert "compiled kernels are not kept" in record.getMessage()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
@pytest.mark.parametrize(("spoil", "reason"), [(_writable, "others may write to it"),
                                               (_foreign, "it belongs to another user")])
@pytest.mark.parametrize("where", ["", "compiled", "shard", "entry"])
def test_what_others_may_have_written_is_neither_read_nor_written(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                                                  where: str, spoil: Callable[[Path], None],
                                                                  reason: str) -> None:
    """The cache's folder itself, each folder inside and each file; one warning says so."""
    folder = tmp_path / "cache"
    cache = Cache(folder, quiet=True)
    cache.put(ONE, b"content")
    (entry,) = entry_files(cache)
    spoiled = {"": folder, "compiled": folder / "compiled", "shard": entry.parent, "entry": entry}[where]
    spoil(spoiled)
    before = entry.read_bytes(), entry.stat()
    for _ in range(2):
        assert cache.get(ONE) is None
        assert Cache(folder).get(ONE) is None
        cache.put(ONE, b"other")
    assert (entry.read_bytes(), entry.stat().st_ino) == (before[0], before[1].st_ino)
    assert entry_files(cache) == [entry]
    (record,) = caplog.records
    assert f"'{spoiled}': {reason} (" in record.getMessage()


def _pipe(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)


def _dangling(entry: Path) -> None:
    entry.unlink()
    entry.symlink_to("nowhere")


@pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")
@pytest.mark.parametrize("spoil", [_link, _dangling, _pipe], ids=["link", "dangling", "pipe"])
def test_an_entry_that_is_a_link_or_a_pipe_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                                         spoil: Callable[[Path], None]) -> None:
    """It is not waited for, not followed and not replaced; a build goes on."""
    build = functools.partial(cm.build, "kernel void k() {}", device="sim:generic", cache_dir=tmp_path)
    build()
    entries = entry_files(Cache(tmp_path))
    contents = [entry.read_bytes() for entry in entries]
    for entry in entries:
        spoil(entry)
    before = [(path, path.lstat().st_ino) for path in sorted(tmp_path.rglob("*"))]
    build()
    assert [(path, path.lstat().st_ino) for path in sorted(tmp_path.rglob("*"))] == before
    if spoil is _link:
        assert [entry.read_bytes() for entry in entries] == contents
    (record,) = caplog.records
    assert "': it is not a file (" in record.getMessage()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_folder_for_everybody_in_which_nobody_touches_what_is_not_his(tmp_path: Path,
                                                                        caplog: pytest.LogCaptureFixture) -> None:
    """Such as /tmp; and whatever the process's mask allows, the cache's own folders are the user's alone."""
    tmp_path.chmod(0o1777)
    mask = os.umask(0)
    try:
        for folder in (tmp_path, tmp_path / "inside"):
            cache = Cache(folder)
            cache.put(ONE, b"content")
            assert cache.get(ONE) == b"content"
    finally:
        os.umask(mask)
    assert not caplog.records


FOREIGN = """
import numpy as np, coopmat as cm
kernel = cm.build("kernel void k(global int *p) { p[0] = 7; }", device="cpu").kernel("k")
out = np.zeros(1, np.int32)
cm.Queue("cpu").enqueue(kernel, 1, 1, out).wait()
print(out[0])
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give a folder away")
def test_the_code_in_a_folder_of_somebody_else_is_not_run(tmp_path: Path) -> None:
    """Somebody else's COOPMAT_CACHE_DIR: the program works, one warning is shown, nothing is written."""
    folder = tmp_path / "x"
    environment = os.environ | {"COOPMAT_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    for owner, warnings in ((os.getuid(), 0), (12345, 1)):
        if folder.exists():
            os.chown(folder, owner, -1)
        before = sorted(folder.rglob("*"))
        run = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, text=True, env=environment,
                             check=True)
        assert run.stdout == "7\n"
        assert run.stderr.count("belongs to another user") == warnings
        assert before == sorted(folder.rglob("*")) or not warnings


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int,
                                    caplog: pytest.LogCaptureFixture) -> None:
    """What is there can be read; what cannot be written is said once. (Root may write to anything, so the
    calls are made to fail.)"""
    cache = Cache(tmp_path)
    cache.put(ONE, b"content")

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(Path, "replace", fail)
    monkeypatch.setattr(os, "utime", fail)
    assert cache.get(ONE) == b"content"
    for index in range(3):
        cache.put(key(str(index)), b"content")
    assert len(caplog.records) == 1
    assert os.strerror(error) in caplog.text
    assert len(entry_files(cache)) == 1


@pytest.mark.parametrize("folder", ["file/inside", "\0", "x" * 5000])
def test_a_folder_that_cannot_exist(tmp_path: Path, folder: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    for quiet in (True, False):
        cache = Cache(tmp_path / folder, quiet=quiet)
        cache.put(ONE, b"content")
        assert cache.get(ONE) is None
        assert cache.usage() == cache.clear() == module.Usage()
        assert len(caplog.records) == (0 if quiet else 1)


def test_the_message_goes_to_standard_error() -> None:
    code = "from coopmat.support.cache import *; Cache(Path('/dev/null/x')).put(key('a'), b'')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    assert result.stderr.startswith("coopmat: warning: compiled kernels are not kept: ")
    assert result.stderr.count("\n") == 1


# ------------------------------------------------------------------------------- which folder


def test_which_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    default = find_cache(environment={}).folder
    assert default is not None
    assert default.name == "coopmat"
    assert default.is_absolute()
    assert find_cache(environment={"COOPMAT_CACHE_DIR": ""}).folder == default
    assert find_cache(environment={"COOPMAT_CACHE_DIR": "there"}).folder == Path("there")
    assert find_cache(environment={"COOPMAT_CACHE_DIR": "off"}).folder is None
    assert find_cache("here", {"COOPMAT_CACHE_DIR": "there"}).folder == Path("here")
    assert find_cache(Path("here"), {"COOPMAT_CACHE_DIR": "off"}).folder == Path("here")
    assert find_cache("off", {"COOPMAT_CACHE_DIR": "there"}).folder is None
    assert find_cache(Path("off"), {}).folder is None
    assert find_cache().folder is None  # as tests/conftest.py says


# ------------------------------------------------------------------------------- processes

WRITER = """
    import os, random, sys
    from pathlib import Path
    from coopmat.support.cache import Cache, key

    folder, (seed, rounds, limit) = sys.argv[1], map(int, sys.argv[2:])
    chance = random.Random(seed)
    cache = Cache(Path(folder), max_bytes=limit)
    print("ready", flush=True)
    while rounds:
        rounds -= 1
        number = chance.randrange(20)
        content = bytes([number]) * (number * 20_000)
        found = cache.get(key(str(number)))
        assert found in (None, content), number
        cache.put(key(str(number)), content)
"""


def start_writer(folder: Path, seed: int, rounds: int, limit: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), *map(str, (folder, seed, rounds, limit))],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_content(folder: Path) -> int:
    """Every entry is whole; how many there are."""
    cache = Cache(folder)
    found = [(number, cache.get(key(str(number)))) for number in range(20)]
    assert all(content in (None, bytes([number]) * (number * 20_000)) for number, content in found)
    return sum(content is not None for _, content in found)


@pytest.mark.parametrize("limit", [module.MAX_BYTES, 4 * 2**20])
def test_several_processes_at_once(tmp_path: Path, limit: int) -> None:
    """With the smaller limit they also remove each other's entries."""
    writers = [start_writer(tmp_path, seed, 150, limit) for seed in range(4)]
    for writer in writers:
        _, messages = writer.communicate(timeout=120)
        assert (writer.returncode, messages) == (0, "")
    assert check_content(tmp_path) == 20 or limit < module.MAX_BYTES
    assert Cache(tmp_path).usage().bytes <= limit


@pytest.mark.skipif(os.name != "posix", reason="the signal is POSIX's")
def test_writers_that_are_killed(tmp_path: Path) -> None:
    chance = random.Random(1)
    for seed in range(12):
        writer = start_writer(tmp_path, seed, -1, module.MAX_BYTES)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.05))
        writer.send_signal(signal.SIGKILL)
        _, messages = writer.communicate(timeout=60)
        assert messages == ""
    assert check_content(tmp_path) > 0
    cache = Cache(tmp_path)
    for number in range(20):
        cache.put(key(str(number)), bytes([number]) * (number * 20_000))
    assert check_content(tmp_path) == 20
