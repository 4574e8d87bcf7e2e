"""What was chosen for a launch on a GPU, and why not something faster, in lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coopmat.spirv.transform.enlarge.merge import Merged
from coopmat.targets.cuda.kernel import KernelCode
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.cuda.work_groups.pipeline import TensorMap, fetchers_of


def explained(name: str, code: KernelCode, variant: Variant, merged: Merged | None, parameters: Sequence[str],
              refusals: Iterable[str]) -> Iterator[str]:
    """The lines of a kernel. ``parameters``: the names of its arguments; ``refusals``: why it has no faster form."""
    size = " x ".join(str(extent) for extent in variant.local_size if extent > 1) or "1"
    yield f"{name}: work-groups of {size} work-items on {variant.chip.name}"
    if merged is not None and max(merged.factors) > 1:
        blocks = " x ".join(str(factor) for factor in merged.factors[:2])
        groups = "sub-groups" if max(merged.groups) > 1 else "work-groups"
        yield f"  merged: {blocks} neighbouring {groups} are one, with matrices as large as all of theirs"
    if code.is_persistent:
        yield from _pipeline(code, variant, parameters)
    else:
        yield "  no pipeline: threads load what they multiply"
    for reason in dict.fromkeys(refusals):
        yield f"  nothing faster: {reason}"


def _pipeline(code: KernelCode, variant: Variant, parameters: Sequence[str]) -> Iterator[str]:
    loads = [one for one, _ in code.maps if one.way == "loads"]
    by = f"tensor maps: {_named(loads, parameters)}" if loads else f"{fetchers_of(variant)} threads with cp.async"
    yield f"  {'wgmma' if variant.chip.has_wgmma else 'mma.sync'}, of tiles that are fetched ahead by {by}"
    turned = [one for one in loads if one.is_turned]
    if turned:
        yield f"  transposed in memory first: {_named(turned, parameters)}"
    if variant.cluster is not None:
        yield f"  clusters of 2 work-groups along {'xyz'[variant.cluster]} fetch together what they have in common"
    stores = [one for one, _ in code.maps if one.way == "stores"]
    if stores:
        yield f"  results leave by tensor maps: {_named(stores, parameters)}"
    yield f"  persistent work-groups of {code.threads} threads, {code.local_bytes >> 10} KiB of shared memory each"


def _named(maps: Sequence[TensorMap], parameters: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(parameters[one.parameter] for one in maps))
