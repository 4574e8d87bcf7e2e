"""The matrices of all tables: what the tests of pictures go through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coopmat.devices import ARCHITECTURES, USES, Combination, DeviceDescription
from coopmat.devices.subgroup_layout import matrix_rows_of
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.layout import DeviceMatrix, of


class Matrix(NamedTuple):
    """What names a matrix: what the command line takes."""

    device: str
    use: str
    type: str
    m: int
    n: int
    k: int
    sub_group_size: int | None = None

    def __str__(self) -> str:
        return " ".join(map(str, self))

    def layout(self) -> DeviceMatrix:
        return of(self.device, use=self.use, type=self.type, m=self.m, n=self.n, k=self.k,
                  sub_group_size=self.sub_group_size)

    def arguments(self) -> list[str]:
        """The words of the command line."""
        words = [self.device, "--use", self.use, "--type", self.type, "-m", str(self.m), "-n", str(self.n), "-k",
                 str(self.k)]
        return words if self.sub_group_size is None else [*words, "--sub-group-size", str(self.sub_group_size)]


def matrices_of(device: DeviceDescription, *, is_long: bool) -> list[Matrix]:
    """One of every kind: each use and type in each row; the long form has all sub-group sizes and all N of wgmma."""
    return list(dict.fromkeys([*_combinations(device, is_long), *_built_ins(device), *_instructions(device, is_long)]))


def _combinations(device: DeviceDescription, is_long: bool) -> Iterator[Matrix]:
    generic = [Combination.row("fp16", "fp16", "fp32", "fp32", *shape)
               for shape in ((16, 16, 16), (3, 5, 7), (8, 32, 64))]
    sizes = device.sub_group_sizes if is_long else device.sub_group_sizes[:1]
    for row in device.combinations or generic:
        for use in USES:
            for fmt in row.types_of(use):
                yield from (Matrix(device.name, use, fmt, *row.largest, size) for size in sizes)


def _built_ins(device: DeviceDescription) -> Iterator[Matrix]:
    rows = () if device.any_combination else matrix_rows_of(device)
    for row in rows:
        for use in USES:
            yield from (Matrix(device.name, use, row.types_of(use)[0], m, row.sub_group_size, row.k) for m in M_SIZES)


def _instructions(device: DeviceDescription, is_long: bool) -> Iterator[Matrix]:
    for row in device.instructions:
        if row.kind.makes_combinations:
            continue
        for shape in row.shapes:
            if row.kind.scope != "warp" and not is_long and shape.n not in (8, 40, 128):
                continue
            for use in USES:
                yield from (Matrix(device.name, use, fmt, *shape.sizes) for fmt in row.types_of(use)
                            if row.has_fragment(use, fmt))


ALL = tuple(ARCHITECTURES.values())
