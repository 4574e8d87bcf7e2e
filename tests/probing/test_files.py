"""Experiments and results in files: the round trip, and files that are damaged or belong to something else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coopmat.diagnostics import Error
from coopmat.probing import claims, compare, found, names, setup_of
from coopmat.probing.files import read_results, write_experiments
from tests.kit.command_line import coopmat, failure
from tests.kit.probing.arithmetics import BF16, FP16, INT8, TF32, Types, model

HOPPER = "nvidia_gpu_sm_90"


def exported(path: Path, types: Types, shape: tuple[int, int, int]) -> dict[str, np.ndarray]:
    write_experiments(path, types, shape)
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def results(inputs: dict[str, np.ndarray], types: Types) -> np.ndarray:
    return model(HOPPER, types)(inputs["a"], inputs["b"], inputs["c"])


@pytest.mark.parametrize(("types", "shape"), [(FP16, (16, 8, 16)), (TF32, (4, 3, 8)), (INT8, (1, 1, 32))],
                         ids=["fp16", "tf32", "int8"])
def test_round_trip(tmp_path: Path, types: Types, shape: tuple[int, int, int]) -> None:
    inputs = exported(tmp_path / "x.npz", types, shape)
    count, (m, n, k) = len(inputs["descriptions"]), shape
    assert inputs["a"].shape == (count, m, k)
    assert inputs["b"].shape == (count, k, n)
    assert inputs["c"].shape == (count, m, n)
    assert (inputs["a"] == inputs["a"][:, :1]).all()
    assert (inputs["b"] == inputs["b"][:, :, :1]).all()
    assert (inputs["c"] == inputs["c"][:, :1, :1]).all()
    np.savez(tmp_path / "y.npz", d=results(inputs, types), experiments=inputs["experiments"])
    read_types, read_shape, d = read_results(tmp_path / "y.npz")
    assert (read_types, read_shape) == (types, shape)
    setup = setup_of(types, k)
    assert all(each.agrees and each.claimed for each in compare(found(setup, d), claims(HOPPER, setup)))


def test_descriptions(tmp_path: Path) -> None:
    texts = exported(tmp_path / "x.npz", FP16, (1, 1, 4))["descriptions"].tolist()
    assert texts[0] == ("order: p0 = 0x1p+15 * 0x1p+15, p1 = -0x1p+15 * 0x1p+15, p2…p3 = 0x1p-14 * 0x1p-14, "
                        "C = 0x1p-28")
    assert "infinity: p0 = inf * 0x1p+0" in texts
    assert len({text.split(":")[0] for text in texts}) == 15


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.float32])
def test_results_as_bits_or_numbers(tmp_path: Path, dtype: type) -> None:
    inputs = exported(tmp_path / "x.npz", FP16, (2, 2, 16))
    d = results(inputs, FP16)
    np.savez(tmp_path / "y.npz", d=d.view(dtype), experiments=inputs["experiments"])
    np.testing.assert_array_equal(read_results(tmp_path / "y.npz")[2], d)


def test_the_command(tmp_path: Path) -> None:
    made = coopmat("probe", "sim:generic", "--a", "bf16", "-m", "2", "-n", "3", "--export", "x.npz", cwd=tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    with np.load(tmp_path / "x.npz") as inputs:
        np.savez(tmp_path / "y.npz", d=results(dict(inputs), BF16), experiments=inputs["experiments"])
    same = coopmat("probe", f"sim:{HOPPER}", "--results", "y.npz", cwd=tmp_path)
    assert same.returncode == 0, same.stdout
    other = coopmat("probe", "sim:nvidia_gpu_sm_80", "--results", "y.npz", cwd=tmp_path)
    assert other.returncode == 1
    lines = [line for line in other.stdout.split("\n") if "DIFFERS: " in line]
    assert [line.split("  ")[1] for line in lines] == [names.ORDER, names.AT_ONCE, names.KEPT, names.QUANTUM]
    assert "  C + {p0…p15}" in lines[0]
    assert "DIFFERS: C + {p0…p7} + {p8…p15}" in lines[0]
    assert other.stdout.rstrip().endswith("4 of 31 properties differ from the model's claims")
    unknown = coopmat("probe", "sim:nvidia_gpu_sm_70", "--results", "y.npz", cwd=tmp_path)
    assert unknown.returncode == 0
    assert unknown.stdout.rstrip().endswith(
        "there is no model of these types on sim:nvidia_gpu_sm_70: nothing to compare with")
    assert failure("probe", f"sim:{HOPPER}", "--results", "y.npz", "--a", "fp16", cwd=tmp_path) == (
        "coopmat: error: 'y.npz' has results for A=bf16, not fp16\n")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    inputs = exported(tmp_path_factory.mktemp("inputs") / "x.npz", FP16, (2, 3, 4))
    return {"d": results(inputs, FP16), "experiments": inputs["experiments"]}


def refusal(path: Path) -> str:
    with pytest.raises(Error) as caught:
        read_results(path)
    return str(caught.value).replace(str(path), "FILE")


def changed(good: dict[str, np.ndarray], **arrays: Any) -> dict[str, np.ndarray]:
    return {name: value for name, value in {**good, **arrays}.items() if value is not None}


def test_arrays_that_do_not_fit(tmp_path: Path, good: dict[str, np.ndarray]) -> None:
    d, name = good["d"], str(good["experiments"])
    count = len(d)
    other = name.replace("inputs ", "inputs 0")
    cases = [
        (changed(good, d=None), "'FILE' has no array 'd': expected 'd', the results, and 'experiments' from the file "
                                "of experiments; found experiments"),
        (changed(good, experiments=None), "'FILE' has no array 'experiments': expected 'd', the results, and "
                                          "'experiments' from the file of experiments; found d"),
        (changed(good, d=d[1:]), f"'FILE': d is an array [{count}, 2, 3] for these experiments (count, M, N), found "
                                 f"[{count - 1}, 2, 3]"),
        (changed(good, d=d.swapaxes(1, 2)), f"'FILE': d is an array [{count}, 2, 3] for these experiments (count, M, "
                                            f"N), found [{count}, 3, 2]"),
        (changed(good, d=d.view(np.float32).astype(np.float64)),
         "'FILE': d has the bits of fp32 as uint32, found float64"),
        (changed(good, d=d.astype(np.uint16)), "'FILE': d has the bits of fp32 as uint32, found uint16"),
        (changed(good, experiments=np.array("something")),
         "'FILE': 'experiments' is the text of that name from the file of experiments, found 'something'"),
        (changed(good, experiments=np.arange(3)), "'FILE': 'experiments' is the text of that name from the file of "
                                                  f"experiments, found 'an array of {np.arange(3).dtype}'"),
        (changed(good, experiments=np.array(name.replace("fp16", "fp17"))),
         "'FILE': 'experiments' is the text of that name from the file of experiments, found "
         f"'{name.replace('fp16', 'fp17')[:80]}'"),
        (changed(good, experiments=np.array(other)),
         "'FILE' belongs to experiments that this version of coopmat does not make: export them again\n"
         f"  found     {other}\n  expected  {name}"),
        (changed(good, experiments=np.array(name.replace("K=4", "K=999"))),
         "dot products of 1 to 64 products can be probed, found K=999"),
        (changed(good, experiments=np.array(name.replace("+ fp32", "+ sint32"))),
         "A, B, C and D are either all integers or all floating-point numbers; found fp16*fp16 + sint32 -> fp32"),
    ]
    for number, (arrays, message) in enumerate(cases):
        path = tmp_path / f"{number}.npz"
        np.savez(path, **arrays)
        assert refusal(path) == message


def test_damaged_files(tmp_path: Path, good: dict[str, np.ndarray]) -> None:
    """Cut off and changed bytes, whatever is inside, end in a refusal or in results of the right shape."""
    content = io.BytesIO()
    np.savez_compressed(content, **good)
    whole, path = content.getvalue(), tmp_path / "y.npz"
    rng = np.random.default_rng(6)
    damaged = [b"", b"PK", whole[:100], whole[: len(whole) // 2], whole[:-30], b"\x93NUMPY\x01\x00", b"text\n" * 9]
    for _ in range(150):
        changed_bytes = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            changed_bytes[place] = rng.integers(256)
        damaged.append(bytes(changed_bytes))
    messages = []
    for content_ in damaged:
        path.write_bytes(content_)
        try:
            assert read_results(path)[2].shape == good["d"].shape
        except Error as error:
            messages.append(str(error))
    assert len(messages) > 50
    assert all(str(path) in message for message in messages)


def test_pickled_objects_are_not_read(tmp_path: Path, good: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "y.npz", d=np.array([{}], dtype=object), experiments=good["experiments"])
    assert refusal(tmp_path / "y.npz").startswith("'FILE' is no undamaged .npz file of results (numpy: ")
