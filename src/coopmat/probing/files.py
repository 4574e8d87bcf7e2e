"""Experiments in a file, for chips that no kernel of ours reaches, and the chip's results from another one.

The file of experiments has the bits of A [count, M, K], B [count, K, N] and C [count, M, N] (``a``, ``b``, ``c``),
``descriptions`` [count], and ``experiments``, a text that names types, shape and inputs. The file of results has ``d``,
the bits of D [count, M, N], and ``experiments`` as it was.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Hashable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from coopmat.devices.operands import types_text
from coopmat.diagnostics import Error
from coopmat.formats import FORMATS, Format, from_bits
from coopmat.probing.report import experiments, inputs, matrices, setup_of
from coopmat.probing.setup import Bits, Dot, Setup
from coopmat.support.files import read_bytes, write_atomically

Types = tuple[str, str, str, str]
Shape = tuple[int, int, int]
MOST_BYTES = 256 << 20  # of a file of results
_NAME = re.compile(r"coopmat probe: (\w+)\*(\w+) \+ (\w+) -> (\w+), M=(\d{1,4}) N=(\d{1,4}) K=(\d{1,4}), inputs (\w+)")


def write_experiments(path: Path, types: Types, shape: Shape) -> None:
    """Write the file of experiments. Raises :class:`coopmat.Error` if it cannot be written."""
    setup = setup_of(types, shape[2])
    a, b, c = matrices(setup, *shape[:2])
    content = io.BytesIO()
    np.savez_compressed(content, a=a, b=b, c=c, experiments=np.array(_name(types, shape)),
                        descriptions=np.array([_described(setup, key, dot) for key, dot in experiments(setup)]))
    write_atomically(path, content.getvalue())


def read_results(path: Path) -> tuple[Types, Shape, Bits]:
    """Types, M, N and K, and the bits of D [count, M, N], that a file of results has.

    Raises :class:`coopmat.Error` if it is damaged, or does not fit the experiments that it says it belongs to.
    """
    arrays = _read_arrays(path)
    types, shape = _experiments_of(path, arrays["experiments"])
    fmt, d = FORMATS[types[3]], arrays["d"]
    expected = (len(experiments(setup_of(types, shape[2]))), *shape[:2])
    if d.shape != expected:
        raise Error(f"'{path}': d is an array {list(expected)} for these experiments (count, M, N), found "
                    f"{list(d.shape)}")
    if (d.dtype.kind not in "iu" and d.dtype != fmt.dtype) or d.dtype.itemsize != fmt.bits_dtype.itemsize:
        raise Error(f"'{path}': d has the bits of {fmt} as {fmt.bits_dtype}, found {d.dtype}")
    return types, shape, np.ascontiguousarray(d, d.dtype.newbyteorder("=")).view(fmt.bits_dtype)


def _read_arrays(path: Path) -> dict[str, Any]:
    if path.exists() and not (path.is_file() and path.stat().st_size <= MOST_BYTES):
        raise Error(f"'{path}' is no file of results: expected a file of at most {MOST_BYTES >> 20} MiB")
    content = read_bytes(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            present = archive.files
            found = {name: archive[name] for name in ("experiments", "d") if name in present}
    except Exception as error:  # of a damaged file: whatever zipfile, zlib, numpy and its parser of headers raise
        raise Error(f"'{path}' is no undamaged .npz file of results (numpy: {error})") from error
    missing = [name for name in ("experiments", "d") if name not in found]
    if missing:
        raise Error(f"'{path}' has no array '{missing[0]}': expected 'd', the results, and 'experiments' from the file "
                    f"of experiments; found {', '.join(present) or 'none'}")
    return found


def _experiments_of(path: Path, name: Any) -> tuple[Types, Shape]:
    text = str(name.item()) if name.shape == () and name.dtype.kind == "U" else ""
    parts = _NAME.fullmatch(text)
    if parts is None or not set(parts.groups()[:4]) <= set(FORMATS):
        raise Error(f"'{path}': 'experiments' is the text of that name from the file of experiments, found "
                    f"{text[:80] or f'an array of {name.dtype}'!r}")
    a, b, c, d, *sizes, _ = parts.groups()
    types, shape = (a, b, c, d), (int(sizes[0]), int(sizes[1]), int(sizes[2]))
    expected = _name(types, shape)
    if text != expected:
        raise Error(f"'{path}' belongs to experiments that this version of coopmat does not make: export them again\n"
                    f"  found     {text}\n  expected  {expected}")
    return types, shape


def _name(types: Types, shape: Shape) -> str:
    m, n, k = shape
    digest = hashlib.sha256(b"".join(array.tobytes() for array in inputs(setup_of(types, k)))).hexdigest()[:16]
    return f"coopmat probe: {types_text(*types)}, M={m} N={n} K={k}, inputs {digest}"


def _described(setup: Setup, key: Hashable, dot: Dot) -> str:
    """The kind of an experiment and its terms that are not zero."""
    kind = key[0] if isinstance(key, tuple) else key
    parts = []
    for pair, run in groupby(range(setup.k), lambda index: (dot.a[index], dot.b[index])):
        numbers = list(run)
        if all(pair):
            name = f"p{numbers[0]}" if len(numbers) == 1 else f"p{numbers[0]}…p{numbers[-1]}"
            parts.append(f"{name} = {_shown(setup.a, pair[0])} * {_shown(setup.b, pair[1])}")
    if dot.c:
        parts.append(f"C = {_shown(setup.c, dot.c)}")
    return f"{kind}: {', '.join(parts)}"


def _shown(fmt: Format, bits: int) -> str:
    value = from_bits(np.array(bits, np.uint64), fmt).item()
    return re.sub(r"\.?0*p", "p", value.hex()) if fmt.is_float else str(value)
