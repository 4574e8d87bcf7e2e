"""The helper process: what it answers, and that nothing which happens to it harms this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coopmat import llvm
from coopmat.diagnostics import CompileError, Error
from coopmat.llvm.process import client
from coopmat.llvm.process.worker import EXTENSIONS

GOOD = """\
target triple = "spirv64-unknown-unknown"
define spir_kernel void @k(i32 %x) {
  ret void
}
"""

MATRIX = 'target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2)'
ANY = f"{MATRIX} poison"
# The back end asserts that the operands are constant.
ABORTS = f"""\
target triple = "spirv64-unknown-unknown"
declare spir_func {MATRIX} @_Z34__spirv_CooperativeMatrixMulAddKHR({MATRIX}, {MATRIX}, {MATRIX}, i32)
define spir_kernel void @k(i32 %x) {{
  %m = call spir_func {MATRIX} @_Z34__spirv_CooperativeMatrixMulAddKHR({ANY}, {ANY}, {ANY}, i32 %x)
  ret void
}}
"""
# The back end asks for an extension and ends the process.
EXITS = """\
target triple = "spirv64-unknown-unknown"
define spir_func i128 @f(i128 %x, i128 %y) {
  %z = mul i128 %x, %y
  ret i128 %z
}
"""


@pytest.fixture
def fresh() -> Iterator[client.Client]:
    """A client of its own, whose process is not there yet."""
    made = client.Client()
    yield made
    made.close()


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(client.TIME_LIMIT_VARIABLE, "0.5")


def emit(user: client.Client, ir: str = GOOD) -> bytes:
    return user.request("spirv", ir, renames={})[1]


def is_running(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition: object, seconds: float = 10) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def children() -> list[int]:
    """The processes whose parent this one is, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(entry.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")


# --------------------------------------------------------------------------------------
# Answers
# --------------------------------------------------------------------------------------


def test_emits_a_module() -> None:
    assert client.emit_spirv(GOOD, {})[:4] == (0x07230203).to_bytes(4, "little")


def test_lists_declared_functions_with_their_types() -> None:
    ir = f"declare spir_func {MATRIX} @f(ptr addrspace(1), i64)\ndefine void @g() {{ ret void }}"
    found = client.declarations(ir)
    assert found == [("f", f"{MATRIX} (ptr addrspace(1), i64)")]


def test_renames_functions() -> None:
    ir = ("declare spir_func i32 @before(i32)\ndefine spir_kernel void @k(i32 %x) {\n"
          "  %y = call spir_func i32 @before(i32 %x)\n  ret void\n}\n")
    assert b"later" in client.emit_spirv(ir, {"before": "later"})
    assert b"before" not in client.emit_spirv(ir, {"before": "later"})


def test_one_module_leaves_no_trace_in_the_next() -> None:
    """Blocks with names made LLVM's back end mix up ids when one process emitted several modules."""
    ir = GOOD.replace("{\n", "{\nentry:\n", 1)
    assert len({client.emit_spirv(ir, {}) for _ in range(4)}) == 1


def test_the_extensions_add_nothing_that_a_module_does_not_need() -> None:
    """With an option that names every extension, LLVM adds declarations; with this list it adds none."""
    module = client.emit_spirv(GOOD.replace("i32 %x", "float %x, half %y, i64 %z"), {})
    assert not any(name.encode() in module for name in EXTENSIONS)


@pytest.mark.parametrize("architecture", ["spirv64", "spir64", "spirv64v1.6"])
def test_spir_triples_are_accepted(architecture: str) -> None:
    assert client.emit_spirv(GOOD.replace("spirv64", architecture), {})
    assert client.emit_spirv(GOOD.replace("spirv64-unknown-unknown", ""), {})


@pytest.mark.parametrize(("triple", "message"), [
    ("x86_64-unknown-linux-gnu", "the module is for target 'x86_64-unknown-linux-gnu'; expected a SPIR-V target"),
    ("spirvx-unknown-unknown", "target 'spirvx-unknown-unknown'"),
])
def test_other_targets_are_rejected(triple: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        client.emit_spirv(GOOD.replace("spirv64-unknown-unknown", triple), {})


# --------------------------------------------------------------------------------------
# LLVM's objections
# --------------------------------------------------------------------------------------


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(CompileError) as caught:
        llvm.verify("define void @f() {\n  ret i32 1.0\n}\n", source_name="bad.ll")
    diagnostic, = caught.value.diagnostics
    assert str(diagnostic).splitlines() == [
        "bad.ll:2:11: error: floating point constant invalid for type", "    2 |   ret i32 1.0", "      |           ^"]


def test_a_broken_rule_of_the_verifier() -> None:
    ir = ("define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\n"
          "a:\n  %x = add i32 1, 1\n  ret i32 %x\nb:\n  ret i32 %x\n}\n")
    with pytest.raises(CompileError, match=r"^bad\.ll: error: LLVM's verifier: .*does not dominate all uses"):
        llvm.verify(ir, source_name="bad.ll")


@pytest.mark.parametrize(("text", "place"), [("\n; a\0b\n", "2:4"), ("; \ud800", "1:3")])
def test_characters_that_llvm_cannot_take(text: str, place: str) -> None:
    with pytest.raises(CompileError, match=rf"^<llvm>:{place}: error: character U\+(0000|D800) cannot stand"):
        llvm.verify(text)


def test_text_that_is_no_ir() -> None:
    with pytest.raises(CompileError, match=r"<llvm>:1:1: error: expected top-level entity"):
        llvm.verify("kernel void k() {}")
    llvm.verify("")


def test_deep_nesting_is_an_error(fresh: client.Client) -> None:
    """LLVM's parser overflows its stack."""
    depth = 200_000
    with pytest.raises(CompileError, match=r"signal SIGSEGV|error:"):
        emit(fresh, f"@x = global {'{' * depth} i8 {'}' * depth} zeroinitializer")
    assert emit(fresh)


# --------------------------------------------------------------------------------------
# The process dies
# --------------------------------------------------------------------------------------


def test_an_abort_is_an_error_and_the_next_request_works(fresh: client.Client) -> None:
    with pytest.raises(CompileError, match=r"LLVM: assertion failed: .*G_CONSTANT"):
        emit(fresh, ABORTS)
    assert emit(fresh)


def test_an_exit_is_an_error_and_the_next_request_works(fresh: client.Client) -> None:
    with pytest.raises(CompileError, match="<llvm>: error: LLVM: OpTypeInt type with a width other than 8"):
        emit(fresh, EXITS)
    assert emit(fresh)


def test_messages_are_found_in_what_llvm_prints() -> None:
    assert client.fatal_message("noise\nLLVM ERROR: no such thing\nPLEASE submit a bug report") == "no such thing"
    assert client.fatal_message("python: a.cpp:7: f(): Assertion `x && y' failed.\n") == "assertion failed: x && y"
    assert client.fatal_message("error: <unknown>:0:0: wrong\nStack dump:\n0. x") == "<unknown>:0:0: wrong"
    assert client.fatal_message("warning: nothing") is None


@linux
def test_a_killed_process_is_replaced(fresh: client.Client) -> None:
    emit(fresh)
    before = fresh.worker.pid
    os.kill(before, signal.SIGKILL)
    assert emit(fresh)
    assert fresh.worker.pid != before
    assert before not in children()


@linux
def test_a_process_that_is_killed_at_work_is_an_error(fresh: client.Client) -> None:
    worker = fresh.worker
    os.kill(worker.pid, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (worker.pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(CompileError, match=r"without a message \(signal SIGKILL\)"):
        emit(fresh)
    assert emit(fresh)


@linux
@pytest.mark.usefixtures("short_limit")
def test_a_hang_ends_at_the_time_limit(fresh: client.Client) -> None:
    pid = fresh.worker.pid
    os.kill(pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(Error, match=r"LLVM did not finish within 0\.5 seconds .*COOPMAT_LLVM_TIME_LIMIT"):
        emit(fresh)
    assert time.monotonic() - start < 5
    assert pid not in children()


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "1e99"])
def test_a_wrong_time_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(client.TIME_LIMIT_VARIABLE, text)
    with pytest.raises(Error, match=rf"COOPMAT_LLVM_TIME_LIMIT: expected a positive number .*'{text}'"):
        llvm.verify(GOOD)


@linux
def test_closing_ends_the_process(fresh: client.Client) -> None:
    emit(fresh)
    pid = fresh.worker.pid
    fresh.close()
    assert pid not in children()
    assert emit(fresh)


def test_a_process_that_cannot_start(fresh: client.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(Error, match=r"the helper process for LLVM could not be started: .*nowhere"):
        emit(fresh)
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(Error, match=r"sys\.executable names no interpreter"):
        emit(fresh)


# --------------------------------------------------------------------------------------
# Threads, forks, and the end of this process
# --------------------------------------------------------------------------------------


def test_threads_take_turns(fresh: client.Client) -> None:
    results: list[bytes | Exception] = []

    def work(ir: str) -> None:
        try:
            results.append(emit(fresh, ir))
        except Error as error:
            results.append(error)

    threads = [threading.Thread(target=work, args=(ir,)) for ir in [GOOD, ABORTS, GOOD, "nonsense", GOOD] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(result, bytes) for result in results) == 6
    assert sum(isinstance(result, CompileError) for result in results) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_gets_a_process_of_its_own(fresh: client.Client) -> None:
    emit(fresh)
    pid = fresh.worker.pid
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            if emit(fresh) and fresh.worker.pid != pid:
                fresh.close()
                status = 0
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert fresh.worker.pid == pid
    assert emit(fresh)


def python(script: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a script that finds the package where this process found it."""
    environment = os.environ | {"PYTHONPATH": str(Path(llvm.__file__).parents[2])}
    return subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=environment, timeout=60,
                          text=True, check=False, **options)


def test_importing_starts_nothing() -> None:
    done = python("""
        import sys
        from coopmat.llvm.process import client
        assert client._client._worker is None
        assert "llvmlite" not in sys.modules
    """, capture_output=True)
    assert done.returncode == 0, done.stderr


@linux
@pytest.mark.parametrize("end", ["raise SystemExit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_its_client(end: str) -> None:
    """Not even when a fork of the client, which lives on, has the pipe open."""
    done = python(f"""
        import os, time
        from coopmat.llvm.process import client
        client.declarations("")
        print(client._client.worker.pid, flush=True)
        if os.fork() == 0:
            os.close(1)
            time.sleep(4)
            os._exit(0)
        {end}
    """, stdout=subprocess.PIPE)
    pid = int(done.stdout)
    assert wait_until(lambda: not is_running(pid), 3.5)


def test_standard_input_is_left_alone() -> None:
    done = python("""
        import sys
        from coopmat.llvm.process import client
        client.declarations("")
        print(sys.stdin.read())
    """, input="for the user", capture_output=True)
    assert done.stdout.strip() == "for the user"


def test_closed_standard_streams_do_no_harm(tmp_path: Path) -> None:
    result = tmp_path / "result"
    done = python(f"""
        import os
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        from coopmat import llvm
        from coopmat.diagnostics import CompileError
        text = "accepted" * bool(llvm.to_spirv({GOOD!r}))
        try:
            llvm.verify("nonsense")
        except CompileError as error:
            text += str(error)
        open({str(result)!r}, "w").write(text)
    """)
    assert done.returncode == 0
    assert result.read_text().startswith("accepted<llvm>:1:1: error: expected top-level entity")


def test_interrupting_a_request_does_not_confuse_the_next() -> None:
    """Ctrl-C reaches the whole process group; the answer must not be taken for that of the next request."""
    done = python("""
        import os, signal, threading
        from coopmat.llvm.process import client
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
        worker = client._client.worker
        os.kill(worker.pid, signal.SIGSTOP)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            client.declarations("")
        except KeyboardInterrupt:
            print("interrupted")
        print(client.declarations("declare void @f()"))
        os.kill(client._client.worker.pid, signal.SIGINT)
        print(client.declarations("declare void @g()"))
    """, capture_output=True)
    assert done.stdout.splitlines() == ["interrupted", "[('f', 'void ()')]", "[('g', 'void ()')]"], done.stderr
