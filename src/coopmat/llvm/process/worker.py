"""The helper process that LLVM runs in.

LLVM ends its process on many errors, and its SPIR-V back end carries state from one module into the next.
:mod:`coopmat.llvm.process.client` therefore starts this file as a program of its own and sends requests through a
pipe; the program loads LLVM once and answers each request in a fork of itself. When a fork dies, the program
ends the same way, and the client starts it again. It depends on nothing but the standard library and
llvmlite, so that it starts fast.

A message is two little-endian 32-bit lengths, a JSON object and a block of bytes. Requests:

``{"command": "declarations"}`` with IR
    Parse and verify. The answer's ``declarations`` are ``[name, type]`` of every function without a body.
``{"command": "print"}`` with IR
    Parse and verify. The answer's bytes are the IR as LLVM prints it.
``{"command": "optimize", "level": 0 to 3}`` with IR
    Parse, verify, run LLVM's optimiser for SPIR-V targets. The answer's bytes are the IR.
``{"command": "spirv", "renames": {old: new}}`` with IR
    Parse, verify, rename functions, run the SPIR-V back end. The answer's bytes are the module.
``{"command": "compile", "triple": target, "cpu": name, "features": list, "level": 0 to 3, "emit": "ir", "asm" or
"object"}`` with IR
    Parse, verify, optimise for a processor of this target; an empty triple is this machine's. The answer's bytes are
    IR, assembly or an object file.

An answer with ``error`` says what LLVM did not accept; ``stage`` is "parse", "verify" or "target".
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

HEADER = struct.Struct("<II")
ORPHAN_CHECK_SECONDS = 1.0
MEMORY_LIMIT = 8 << 30  # bytes of address space; more than that is a runaway

# Every extension that the back end may use on its own accord. Those that make it add declarations
# which the module does not need (float controls, untyped pointers, ...) are left out.
EXTENSIONS = (
    "SPV_EXT_relaxed_printf_string_address_space",
    "SPV_EXT_shader_atomic_float16_add",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_2d_block_io",
    "SPV_INTEL_bfloat16_conversion",
    "SPV_INTEL_cache_controls",
    "SPV_INTEL_function_pointers",
    "SPV_INTEL_int4",
    "SPV_INTEL_joint_matrix",
    "SPV_INTEL_split_barrier",
    "SPV_INTEL_subgroup_matrix_multiply_accumulate",
    "SPV_INTEL_subgroups",
    "SPV_INTEL_tensor_float32_conversion",
    "SPV_KHR_bfloat16",
    "SPV_KHR_bit_instructions",
    "SPV_KHR_cooperative_matrix",
    "SPV_KHR_expect_assume",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_shader_clock",
    "SPV_KHR_subgroup_rotate",
    "SPV_KHR_uniform_group_instructions",
)

# The triples of SPIR (clang's spir targets) and of no target at all mean the same code.
TRIPLES = {"": "spirv64-unknown-unknown", "spir64": "spirv64-unknown-unknown", "spir": "spirv32-unknown-unknown"}

Answer = tuple[dict[str, Any], bytes]


class Rejected(Exception):
    """LLVM reported an error and lives on."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


def _read(descriptor: int, count: int) -> bytes:
    """Exactly ``count`` bytes; EOFError when the other side is gone."""
    chunks = []
    while count:
        chunk = os.read(descriptor, min(count, 1 << 20))
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]


def read_message(descriptor: int) -> Answer:
    """The next message; EOFError when the other side has closed the pipe."""
    header_length, data_length = HEADER.unpack(_read(descriptor, HEADER.size))
    header = json.loads(_read(descriptor, header_length))
    return header, _read(descriptor, data_length)


def write_message(descriptor: int, header: dict[str, Any], data: bytes = b"") -> None:
    """Write one message; BrokenPipeError when nobody reads any more."""
    text = json.dumps(header).encode()
    _write(descriptor, HEADER.pack(len(text), len(data)) + text + data)


# --------------------------------------------------------------------------------------
# Requests
# --------------------------------------------------------------------------------------


def _parse(llvm: Any, ir: bytes) -> Any:
    try:
        module = llvm.parse_assembly(ir.decode())
    except RuntimeError as error:
        raise Rejected("parse", str(error)) from None
    try:
        module.verify()
    except RuntimeError as error:
        raise Rejected("verify", str(error)) from None
    return module


def _declarations(llvm: Any, request: dict[str, Any], ir: bytes) -> Answer:
    module = _parse(llvm, ir)
    functions = [[f.name, str(f.global_value_type)] for f in module.functions if f.is_declaration]
    return {"declarations": functions}, b""


def _spirv(llvm: Any, request: dict[str, Any], ir: bytes) -> Answer:
    module = _parse(llvm, ir)
    for old, new in request["renames"].items():
        module.get_function(old).name = new
    return {}, _machine(llvm, module).emit_object(module)


def _print(llvm: Any, request: dict[str, Any], ir: bytes) -> Answer:
    return {}, str(_parse(llvm, ir)).encode()


def _optimize(llvm: Any, request: dict[str, Any], ir: bytes) -> Answer:
    module = _parse(llvm, ir)
    _run_passes(llvm, module, _machine(llvm, module), request["level"])
    return {}, str(module).encode()


def _run_passes(llvm: Any, module: Any, machine: Any, level: int) -> None:
    """Optimise a module for a target machine, in place."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
    builder.getModulePassManager().run(module, builder)


def _compile(llvm: Any, request: dict[str, Any], ir: bytes) -> Answer:
    llvm.initialize_native_asmparser()  # for the few instructions of the CPU's code that switch stacks
    triple = request["triple"] or llvm.get_process_triple()
    machine = _target(llvm, triple).create_target_machine(
        cpu=request["cpu"], features=request["features"], opt=request["level"], reloc="pic", codemodel="default")
    layout = f'target datalayout = "{machine.target_data}"\n'  # accesses that name no alignment get the target's
    module = _parse(llvm, layout.encode() + ir)
    module.triple = triple
    for path in request.get("libraries", ()):
        _link(llvm, module, path)
    _run_passes(llvm, module, machine, request["level"])
    if request.get("joins_phis"):
        _join_phis(llvm, module, machine)
    if request["emit"] == "ir":
        return {}, str(module).encode()
    if request["emit"] == "asm":
        return {}, machine.emit_assembly(module).encode()
    return {}, machine.emit_object(module)


def _join_phis(llvm: Any, module: Any, machine: Any) -> None:
    """Let values be one that are alike in every turn of a loop, which the usual passes do not see."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_new_gvn_pass()
    passes.add_aggressive_dce_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _link(llvm: Any, module: Any, path: str) -> None:
    """Add the functions of a library, a file of bitcode, that a module calls; they become its own."""
    try:
        with open(path, "rb") as file:
            library = llvm.parse_bitcode(file.read())
        own = {f.name for f in library.functions if not f.is_declaration}
        library.triple, library.data_layout = module.triple, module.data_layout
        module.link_in(library)
    except (OSError, RuntimeError) as error:
        raise Rejected("library", f"the library {path} cannot be linked: {error}") from None
    for function in module.functions:
        if function.name in own:
            function.linkage = "internal"


def _machine(llvm: Any, module: Any) -> Any:
    """The SPIR-V target machine of a module, whose triple is completed."""
    architecture = module.triple.partition("-")[0]
    triple = TRIPLES.get(architecture, module.triple)
    if not architecture.startswith("spir"):
        if architecture:
            raise Rejected("target", f"the module is for target '{module.triple}'; expected a SPIR-V target, "
                                     f"such as 'spirv64-unknown-unknown'")
        triple = TRIPLES[""]
    target = _target(llvm, triple, module.triple)
    module.triple = triple
    return target.create_target_machine(opt=0)


def _target(llvm: Any, triple: str, called: str | None = None) -> Any:
    """LLVM's target for a triple; ``called`` is what the user calls it."""
    try:
        return llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise Rejected("target", f"target '{called or triple}': {error}") from None


COMMANDS: dict[str, Callable[[Any, dict[str, Any], bytes], Answer]] = {
    "declarations": _declarations,
    "print": _print,
    "optimize": _optimize,
    "spirv": _spirv,
    "compile": _compile,
}


# --------------------------------------------------------------------------------------
# The process
# --------------------------------------------------------------------------------------


def _limit_resources() -> None:
    """No core file when LLVM aborts, and no more memory than a sane module needs."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(hard, MEMORY_LIMIT)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _private_pipes() -> tuple[int, int]:
    """The pipes to the client, moved away from standard input and output, which LLVM may use."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return requests, answers


def _load_llvm(folder: str) -> Any:
    """llvmlite, from the folder that the client found it in."""
    if folder:
        sys.path.insert(0, folder)
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("", "--spirv-ext=" + ",".join(f"+{name}" for name in EXTENSIONS))
    return llvm


def _answer(llvm: Any, answers: int, request: dict[str, Any], data: bytes) -> None:
    try:
        header, result = COMMANDS[request["command"]](llvm, request, data)
    except Rejected as error:
        header, result = {"error": str(error), "stage": error.stage}, b""
    write_message(answers, header, result)


def _wait(descriptor: int, client: int, child: int | None = None) -> None:
    """Wait until something can be read; end with ``child`` when the client is gone, of which the pipe says
    nothing while a fork of the client holds it open."""
    while not select.select([descriptor], [], [], ORPHAN_CHECK_SECONDS)[0]:
        if os.getppid() != client:
            if child is not None:
                os.kill(child, signal.SIGKILL)
            os._exit(1)


def _watch_parent(parent: int) -> None:
    """End this process, even inside of LLVM, when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_CHECK_SECONDS)
    os._exit(1)


def _answer_in_fork(llvm: Any, answers: int, request: dict[str, Any], data: bytes, client: int) -> None:
    """Answer a request in a child; end this process as the child ended, unless all went well."""
    worker = os.getpid()
    done, alive = os.pipe()  # readable when the child, which alone keeps the other end, has ended
    child = os.fork()
    if child == 0:
        threading.Thread(target=_watch_parent, args=(worker,), daemon=True).start()
        _answer(llvm, answers, request, data)
        os._exit(0)
    os.close(alive)
    _wait(done, client, child)
    os.close(done)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os.kill(worker, os.WTERMSIG(status))
    if status:
        os._exit(os.waitstatus_to_exitcode(status))


def serve(folder: str, client: int) -> None:
    """Answer requests until the client closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's business
    _limit_resources()
    requests, answers = _private_pipes()
    llvm = _load_llvm(folder)
    if not hasattr(os, "fork"):  # Windows: one request, and the client starts another process
        _answer(llvm, answers, *read_message(requests))
        return
    while True:
        _wait(requests, client)
        _answer_in_fork(llvm, answers, *read_message(requests), client)


def main() -> None:
    """``worker.py FOLDER CLIENT``: FOLDER holds llvmlite, CLIENT is the client's process id."""
    with contextlib.suppress(EOFError, BrokenPipeError):
        serve(sys.argv[1], int(sys.argv[2]))
    sys.stderr.flush()
    os._exit(0)  # LLVM's own clean-up at exit is not worth its risks


if __name__ == "__main__":
    main()
