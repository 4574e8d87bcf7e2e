"""Intel's offline compiler as an oracle: what its graphics compiler makes of a SPIR-V module.

The package intel-ocloc of Debian and Ubuntu; no GPU is needed. A call that the compiler cannot resolve is no
error for it: the assembly must be looked at.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

DEVICES = {"pvc": "intel_gpu_pvc", "dg2": "intel_gpu_dg2_g10"}
"""The compiler's name of a device → ours."""


class Rejected(Exception):
    """The compiler refused a module."""


def assembly(spirv: bytes, device: str, folder: Path) -> dict[str, str]:
    """Kernel → its assembly. Raises Rejected with the compiler's messages."""
    module = folder / "module.spv"
    module.write_bytes(spirv)
    run = subprocess.run(["ocloc", "compile", "-spirv_input", "-file", module, "-device", device, "-out_dir", folder],
                         capture_output=True, text=True, timeout=600, check=False)
    if run.returncode != 0:
        raise Rejected(f"exit code {run.returncode}: {run.stdout}{run.stderr}")
    subprocess.run(["ocloc", "disasm", "-file", folder / f"module_{device}.bin", "-device", device,
                    "-dump", folder / "dump"], capture_output=True, timeout=600, check=True)
    return {path.name.removeprefix(".text.").removesuffix(".asm"): path.read_text()
            for path in (folder / "dump").glob(".text.*.asm")}
