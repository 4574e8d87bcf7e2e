"""What kernels capture, and what the key of a kernel in a cache depends on."""

from __future__ import annotations

import enum
import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime import python_launches
from coopmat.sycl import float32, int32, kernel, local_accessor, nd_item, nd_range, ptr
from tests.kit.sycl.language import COUNT, error_of, results


class Mode(enum.Enum):
    """An enumeration without numbers."""

    FAST = "fast"
    EXACT = "exact"


class Level(enum.IntEnum):
    """One with numbers."""

    LOW = 3
    HIGH = 70


class Base:
    """A class with constants."""

    INHERITED = 4


class Config(Base):
    """A class that inherits some."""

    PAIR = (1, 2)

    @staticmethod
    def scaled(x):
        return x * 3


@dataclass(frozen=True)
class Sizes:
    """A dataclass."""

    m: int
    n: float = 0.5
    KIND = 8


class Plain:
    """A class whose objects have attributes that no key can stand for."""

    def __init__(self, value: int) -> None:
        self.value = value


def adder(value):
    """A kernel that captures one value."""
    @kernel
    def added(item: nd_item[1], y: ptr[float32]):
        y[item.get_global_id(0)] = value + item.get_global_id(0)
    return added


@pytest.mark.parametrize(("value", "expected"), [
    (3, 3), (2.5, 2.5), (True, 1), (np.int8(-3), -3), (np.float32(0.25), 0.25), (np.float64(0.5), 0.5),
    (np.uint64(7), 7), (Level.HIGH, 70), (np.bool_(True), 1)])
def test_numbers_are_captured(value: object, expected: float) -> None:
    found = results(adder(value), dtype=np.float32)
    # C++ has no negative size_t: the index converts the sum to an unsigned number
    assert found == [np.float32(expected + i if expected >= 0 or isinstance(value, float) else (expected + i) % 2**64)
                     for i in range(COUNT)]


def test_objects_that_hold_constants() -> None:
    space, sizes, mode = SimpleNamespace(z=7, inner=SimpleNamespace(w=(1, 20))), Sizes(3), Mode.FAST

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        total = Config.PAIR[1] + Config.INHERITED + Config.scaled(10) + space.z + space.inner.w[1]
        if mode == Mode.FAST and mode is not Mode.EXACT and mode.value == "fast":
            total += 1000
        y[item.get_global_id(0)] = total + sizes.m * sizes.n + Sizes.KIND + Level.LOW + Level.HIGH.value

    assert results(k, dtype=np.float32) == [2 + 4 + 30 + 7 + 20 + 1000 + 1.5 + 8 + 73] * COUNT


def test_closures_capture_by_value_when_they_are_defined() -> None:
    kernels = []
    for value in (1, 2, 3):
        @kernel
        def k(item: nd_item[1], y: ptr[float32]):
            y[item.get_global_id(0)] = value  # noqa: B023
        kernels.append(k)
    value = 100
    assert [results(k, dtype=np.float32)[0] for k in kernels] == [1, 2, 3]


def test_arrays_and_local_memory_are_captured() -> None:
    x, found, tile = np.arange(COUNT, dtype=np.float32), np.zeros(COUNT, np.float32), local_accessor[float32, 2]((4, 4))

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_local_id(0))
        tile[i // 4, i % 4] = x[i]
        item.barrier()
        found[i] = tile[i % 4][i // 4]
        y[i] = found[i] + 1

    transposed = np.arange(16).reshape(4, 4).T.ravel()
    assert results(k, dtype=np.float32) == (transposed + 1).tolist()
    assert found.tolist() == transposed.tolist()


def test_what_cannot_be_captured() -> None:
    def of(value):
        @kernel
        def k(item: nd_item[1], y: ptr[int32]):
            y[0] = value
        return k

    for value in ({"a": 1}, {1}, b"a", 1j, np.datetime64("2020"), [np.zeros(3)], np.zeros(2, np.complex64)):
        code, message, place = error_of(of(value))
        assert code in ("CM6022", "CM6032")
        assert place.startswith("value"), message


# ------------------------------------------------------------------ keys


def test_different_values_have_different_keys() -> None:
    values = [1, 1.0, True, -1, np.int8(1), np.int16(1), "1", (1,), [1], None, Mode.FAST, Mode.EXACT, Level.LOW,
              Sizes(1), Sizes(2), SimpleNamespace(a=1), SimpleNamespace(a=2), np.zeros(1, np.int8),
              np.zeros(1, np.int16), abs, max, float("nan"), 0.0, -0.0, Config, Base, int32, float32,
              local_accessor[float32, 1](3), local_accessor[float32, 1](4)]
    keys = [adder(value).key() for value in values]
    assert None not in keys
    assert len(set(keys)) == len(values)
    assert keys == [adder(value).key() for value in values]


def test_arrays_of_one_type_have_one_key() -> None:
    assert adder(np.zeros(3)).key() == adder(np.ones(5)).key()
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    assert adder(frozen).key() != adder(np.zeros(3)).key()


def test_defaults_and_inherited_constants_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(by):
        def helper(x, a=by):
            return x + a

        @kernel
        def k(item: nd_item[1], y: ptr[float32]):
            y[item.get_global_id(0)] = helper(1) + Config.INHERITED
        return k

    before = made(1).key()
    assert before == made(1).key() != made(2).key()
    monkeypatch.setattr(Base, "INHERITED", 5)
    assert made(1).key() != before


def test_objects_without_a_key_are_compiled_and_not_kept(tmp_path: Path) -> None:
    holder, cycle = Plain(5), []
    cycle.append(cycle)

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        y[item.get_global_id(0)] = holder.value + (0 if cycle_is_read else 1)

    cycle_is_read, before = False, list(python_launches._PROGRAMS)
    assert k.key() is None
    assert adder(cycle).key() is None
    assert results(k, dtype=np.float32)[0] == 6
    holder.value = 8
    assert results(k, dtype=np.float32)[0] == 9
    assert list(python_launches._PROGRAMS) == before
    cm.build(k, cache_dir=tmp_path)
    assert not list(tmp_path.rglob("*.*"))


# ------------------------------------------------------------------ files

MAIN = """from coopmat.sycl import *
import helpers
from helpers import T, of_file
@kernel
def k(item: nd_item[1], y: ptr[int32]):
    v: T = of_file(300) + helpers.CONSTANT + helpers.other(1) + helpers.Holder.N
    v
    y[item.get_global_id(0)] = v
"""
HELPERS = """from coopmat.sycl import *
T = int32
CONSTANT = 1
class Holder:
    N = 10
def of_file(x): return x + deeper(x)
def deeper(x): return x
def other(x): return x * 1000
"""


def imported(folder: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def key_and_result(folder: Path, main: str, helpers: str) -> tuple[str, int]:
    (folder / "main_module.py").write_text(main)
    (folder / "helpers.py").write_text(helpers)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        imported(folder, "helpers")
        found = imported(folder, "main_module").k
    finally:
        sys.dont_write_bytecode = before
        sys.modules.pop("helpers", None)
        sys.modules.pop("main_module", None)
    return found.key(), results(found)[0]


@pytest.mark.parametrize(("old", "new", "result"), [
    ("CONSTANT = 1", "CONSTANT = 2", 1612), ("deeper(x): return x", "deeper(x): return 7", 1318),
    ("x * 1000", "x * 2000", 2611), ("N = 10", "N = 20", 1621), ("T = int32", "T = int8", 75),
    ("y[item", "y[0 + item", 1611)])
def test_the_key_depends_on_everything_that_is_compiled(tmp_path: Path, old: str, new: str, result: int) -> None:
    before = key_and_result(tmp_path, MAIN, HELPERS)
    after = key_and_result(tmp_path, MAIN.replace(old, new), HELPERS.replace(old, new))
    assert before[1] == 1611
    assert before[0] != after[0]
    assert after[1] == result


SCRIPT = """import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from main_module import k
import coopmat as cm
program = cm.build(k, cache_dir={cache!r})
print(hash(tuple(program.spirv)), [str(warning) for warning in program.warnings])
"""


def test_processes_share_the_cache(tmp_path: Path) -> None:
    """Three at once and one afterwards: the same module, and the same warnings."""
    (tmp_path / "main_module.py").write_text(MAIN)
    (tmp_path / "helpers.py").write_text(HELPERS)
    script = SCRIPT.format(folder=str(tmp_path), cache=str(tmp_path / "cache"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
               for _ in range(3)]
    first = [process.communicate()[0] for process in running]
    kept = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    last = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment,
                          check=True)
    assert first == [last.stdout] * 3
    assert "the value of this expression is not used" in last.stdout
    assert len(kept) >= 1
    assert kept == {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}


def test_a_hit_gives_the_same_module_and_warnings(tmp_path: Path) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] + 1
        y[0] = 3

    first, second = (cm.build(k, cache_dir=tmp_path) for _ in range(2))
    assert first.spirv == second.spirv
    assert [str(one) for one in first.warnings] == [str(one) for one in second.warnings] != []
    queue, found = cm.Queue("sim:generic"), np.zeros(1, np.int32)
    for _ in range(2):
        queue.parallel_for(nd_range(1, 1), k, found).wait()
    assert found[0] == 3
    assert [key for _, key, _ in python_launches._PROGRAMS].count(k.key()) == 1
