"""What ``coopmat doctor`` says of Vulkan: drivers, devices, features, and matrices that were tried out."""

from __future__ import annotations

from collections.abc import Iterator

Line = tuple[str, bool | None, str]
"""What it is about, whether it works (None: it is not here), and the text."""


def lines() -> Iterator[Line]:
    """All of it."""
    from coopmat.targets.vulkan.host.enumeration import listing

    found = listing()
    count = len(found.devices)
    if count:
        yield "Vulkan", True, f"{count} device{'s' * (count > 1)}"
    for problem in found.problems:
        yield "Vulkan", False if count or "cannot be used" in problem else None, problem
    for number, one in enumerate(found.devices):
        name = f"vulkan:{number}"
        yield name, not one.unusable, f"{one.shown}: {one.unusable}" if one.unusable else one.shown
        if not one.unusable:
            yield from _of_device(name)


def _of_device(name: str) -> Iterator[Line]:
    """What kernels find on a device."""
    from coopmat.runtime import device
    from coopmat.runtime.vulkan_device import VulkanDevice
    from coopmat.spirv.transform.to_vulkan.features import ALL
    from coopmat.support.terminal import progress

    found = device(name)
    assert isinstance(found, VulkanDevice)
    yield f"{name} limits", True, (f"sub-groups of {', '.join(map(str, found.sub_group_sizes))}; work-groups of "
                                   f"{found.max_work_group_size}; {found.local_memory_size >> 10} KiB of local memory")
    lacking = sorted(ALL - found.facts.features)
    yield f"{name} features", True, (f"{len(ALL) - len(lacking)} of {len(ALL)} that kernels may need"
                                     + (f"; not {', '.join(lacking)}" if lacking else ""))
    with progress(f"trying the matrices of {name}"):
        verdicts = found.matrices.verdicts(found.matrices.rows, found.sub_group_sizes[0])
    right = "; ".join(str(one.row) for one in verdicts if one.is_right)
    yield f"{name} matrices", True if right else None, (
        f"right: {right}" if right else "the driver has none that work: sub-groups multiply")
    for one in verdicts:
        if not one.is_right:
            yield f"{name} matrices", False, f"{one.row}: {one.text}; sub-groups multiply instead"
