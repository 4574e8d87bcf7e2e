"""Kernels in Python and in OpenCL C that say the same are the same SPIR-V, up to ids, names and lines."""

from __future__ import annotations

import pytest

import coopmat as cm
from tests.kit.sycl import same_kernels as kernels
from tests.kit.sycl.normal_form import normal_form

PAIRS = [(kernels.plain, kernels.PLAIN), (kernels.blocked, kernels.BLOCKED), (kernels.epilogue, kernels.EPILOGUE),
         (kernels.with_bias, kernels.WITH_BIAS)]


@pytest.mark.parametrize(("kernel", "source"), PAIRS, ids=lambda given: getattr(given, "name", ""))
def test_the_same_kernel_in_both_languages(kernel, source: str) -> None:
    found, expected = (normal_form(cm.build(given).spirv) for given in (kernel, source))
    assert found == expected


def test_what_the_normal_form_keeps() -> None:
    one, other, renamed = (normal_form(cm.build(f"kernel void {name}(global int *{name}s) {{ {name}s[{index}] = 1; }}"
                                                ).spirv) for name, index in (("a", 2), ("a", 3), ("b", 2)))
    assert one != other
    assert [line.replace('"b"', '"a"') for line in renamed] == one
    assert not any("Line" in line or "OpName" in line for line in one)
