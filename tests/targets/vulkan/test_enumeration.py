"""Which devices there are: drivers that fail are left out, and what was found is kept; without any driver."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import coopmat as cm
from coopmat.targets.base.children import Ending
from coopmat.targets.vulkan.host import enumeration
from coopmat.targets.vulkan.host.facts import DeviceFacts, MatrixRow, version_text

CRASH = Ending("was ended by SIGSEGV", "last words")


def facts(name: str, kind: str = "discrete GPU", ordinal: int = 0, unusable: str = "") -> DeviceFacts:
    return DeviceFacts(ordinal, name, kind, "driver", "1.0", 1, 1 << 22 | 3 << 12, 1, 2, "00", (32,),
                       frozenset({"shaderFloat64"}), frozenset(),
                       {"maxComputeSharedMemorySize": 1024, "maxComputeWorkGroupInvocations": 128}, unusable=unusable)


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What each driver answers, by its name; the drivers are the files of a folder."""
    answers: dict[str, Any] = {}
    asked: list[tuple[str, ...] | None] = []

    def of(chosen: tuple[str, ...] | None) -> Any:
        asked.append(chosen)
        names = list(answers) if chosen is None else [Path(one).stem for one in chosen]
        failed = [answers[name] for name in names if not isinstance(answers[name], list)]
        return failed[0] if failed else [one for name in names for one in answers[name]]

    monkeypatch.setattr(enumeration, "loader", lambda: SimpleNamespace(path="libvulkan"))
    monkeypatch.setattr(enumeration, "manifests", lambda: [tmp_path / f"{name}.json" for name in answers])
    monkeypatch.setattr(enumeration, "_asked", of)
    monkeypatch.setattr(enumeration, "_known", {})
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MESA_OF_THIS_TEST", str(tmp_path))
    monkeypatch.setattr(enumeration, "asked", asked, raising=False)
    return answers


def test_gpus_come_first_and_what_is_of_no_use_last(drivers: dict[str, Any]) -> None:
    drivers["all"] = [facts("cpu", "CPU"), facts("old", unusable="too old"), facts("gpu", ordinal=2)]
    assert [one.name for one in enumeration.listing().devices] == ["gpu", "cpu", "old"]


def test_drivers_that_fail_are_left_out(drivers: dict[str, Any]) -> None:
    drivers |= {"bad": CRASH, "good": [facts("gpu")], "refusing": cm.Error("no such thing")}
    found = enumeration.listing()
    assert [one.name for one in found.devices] == ["gpu"]
    assert [Path(one).stem for one in found.drivers or ()] == ["good"]
    first, second = found.problems
    assert "bad.json cannot be used: the process that asked it was ended by SIGSEGV: last words" in first
    assert "refusing.json cannot be used: no such thing" in second


def test_one_driver_that_fails(drivers: dict[str, Any]) -> None:
    drivers["bad"] = CRASH
    found = enumeration.listing()
    assert not found.devices
    assert "SIGSEGV" in found.problems[0]
    with pytest.raises(cm.Error, match=r"there is no device vulkan:0: .* show no device \(.*SIGSEGV"):
        cm.device("vulkan:0")


def test_what_was_found_is_kept(drivers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    drivers["all"] = [facts("gpu")]
    assert enumeration.listing().devices == enumeration.listing().devices
    monkeypatch.setattr(enumeration, "_known", {})
    assert [one.name for one in enumeration.listing().devices] == ["gpu"]
    assert len(enumeration.asked) == 1  # type: ignore[attr-defined]
    monkeypatch.setenv("VK_SOMETHING", "else")  # that may change the answer
    enumeration.listing()
    assert len(enumeration.asked) == 2  # type: ignore[attr-defined]


def test_failures_are_tried_again_after_a_day(drivers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    drivers["bad"] = CRASH
    enumeration.listing()
    monkeypatch.setattr(enumeration, "_known", {})
    assert enumeration.listing().problems
    assert len(enumeration.asked) == 1  # type: ignore[attr-defined]
    later = enumeration.time.time() + enumeration.DRIVER_FAILURE_LIFE + 1
    monkeypatch.setattr(enumeration.time, "time", lambda: later)
    monkeypatch.setattr(enumeration, "_known", {})
    drivers["bad"] = [facts("gpu")]
    assert enumeration.listing().devices


def test_the_default_device(drivers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coopmat.targets.cuda.host.driver.device_count", lambda: 0)
    monkeypatch.delenv("COOPMAT_DEVICE")
    drivers["all"] = [facts("cpu", "CPU")]
    assert cm.device().name == "cpu"
    assert "vulkan:0" in [one.name for one in cm.devices()]
    drivers["all"] = [facts("gpu"), facts("cpu", "CPU")]
    monkeypatch.setattr(enumeration, "_known", {})
    monkeypatch.setenv("VK_SOMETHING", "else")
    device = cm.device()
    assert device.name == "vulkan:0"
    assert device.is_gpu()
    assert device.architecture == "gpu"
    assert cm.device("vulkan:1").is_cpu()
    assert cm.device("cpu").name == "cpu"


def test_where_the_loader_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "share" / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    (folder / "one.json").touch()
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "share"))
    assert folder / "one.json" in enumeration.manifests()
    monkeypatch.setenv("VK_DRIVER_FILES", str(folder))
    assert enumeration.manifests() == [folder / "one.json"]
    monkeypatch.setenv("VK_DRIVER_FILES", str(tmp_path / "none.json"))
    assert enumeration.manifests() == []


def test_rows_of_types_that_there_are_not() -> None:
    assert MatrixRow(("fp8_e4m3", "fp8_e4m3", "fp32", "fp32"), (16, 16, 16)).combination() is None
    found = MatrixRow(("sint8", "sint8", "sint32", "sint32"), (8, 8, 8)).combination((16, 8, 8))
    assert found is not None
    assert found.largest == (16, 8, 8)
    assert version_text(1 << 22 | 4 << 12 | 318) == "1.4.318"
