"""Where libdevice is, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.targets.cuda import library
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets.ptx import ptx_of

SINE = "kernel void sine(global double *x) { x[get_global_id(0)] = sin(x[get_global_id(0)]); }"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    library.path.cache_clear()
    yield
    library.path.cache_clear()


def test_the_variable_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "some.bc"
    file.write_bytes(b"")
    monkeypatch.setenv(library.VARIABLE, str(file))
    assert library.path() == file


def test_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What to install; the variable alone counts where it is set."""
    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "none.bc"))
    with pytest.raises(cm.Error, match=r"libdevice.*not here: 'pip install nvidia-nvvm'.*COOPMAT_LIBDEVICE may say"):
        library.path()


def test_a_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(library.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    file = tmp_path / "nvvm" / "libdevice" / library.FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    assert library.path() == file


def test_a_kernel_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kernels that call no function of it compile; one that does names what is missing. What is no library is said
    to be none."""
    program = PtxProgram(executable(cm.build(SINE + "kernel void none() {}").module), CHIPS["sm_80"])
    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "none.bc"))
    assert ptx_of(program, "none", (32,))
    with pytest.raises(cm.Error, match=r"libdevice\.10\.bc.*pip install"):
        ptx_of(program, "sine", (32,))
    library.path.cache_clear()
    (tmp_path / "none.bc").write_bytes(b"no bitcode")
    with pytest.raises(cm.Error, match=r"none\.bc"):
        ptx_of(program, "sine", (32,))
