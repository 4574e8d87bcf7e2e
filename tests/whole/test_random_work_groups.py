"""Random kernels of matrices that work-groups share: every device computes what numpy does."""

from __future__ import annotations

import pytest

from tests.kit.fuzz.work_group_kernels import disagreement
from tests.kit.targets.gpu import GPU

SHORT = {"cpu": range(4), "sim:generic": range(2), GPU: range(16, 24)}
LONG = {"cpu": range(1000, 1200), "sim:generic": range(2000, 2050), GPU: range(3000, 4000)}
BATCH = 10
CUDA = pytest.mark.oracle("cuda")


@pytest.mark.parametrize(("device", "seed"), [
    pytest.param(device, seed, marks=[CUDA] * (device == GPU)) for device, seeds in SHORT.items() for seed in seeds])
def test_devices_compute_what_numpy_does(device: str, seed: int) -> None:
    found = disagreement(seed, device)
    assert found is None, found


@pytest.mark.slow
@pytest.mark.parametrize(("device", "seeds"), [
    pytest.param(device, seeds[first:first + BATCH], id=f"{device}-{seeds[first]}", marks=[CUDA] * (device == GPU))
    for device, seeds in LONG.items() for first in range(0, len(seeds), BATCH)])
def test_devices_compute_what_numpy_does_long(device: str, seeds: range) -> None:
    found = [text for seed in seeds if (text := disagreement(seed, device))]
    assert not found, "\n".join(found)
