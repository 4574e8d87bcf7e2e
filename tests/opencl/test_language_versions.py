"""The versions of OpenCL C: what each accepts, as clang does; their macros; what is said where a version is too old."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import CompileError
from coopmat.opencl import BuildOptions, builtins, compile_source
from coopmat.support.build_options import LANGUAGES
from tests.kit.opencl import language_corpus as corpus

CLANG = (sys.executable, "-m", "ziglang", "clang", "-cc1", "-fno-caret-diagnostics", "-ferror-limit", "0", "-x", "cl",
         "-triple", "spirv64", "-cl-ext=+all", "-fdeclare-opencl-builtins", "-fsyntax-only")


def accepted(source: str, version: str) -> bool:
    """Whether the package compiles a source in a version of the language."""
    try:
        compile_source(source, options=BuildOptions(language=LANGUAGES[version], warnings=("-w",)))
    except CompileError:
        return False
    return True


@cache
def refused_by_clang(folder: Path, version: str) -> frozenset[str]:
    """The programs for which clang reports an error, all found in one run."""
    for number, program in enumerate(corpus.PROGRAMS):
        (folder / f"p{number}.cl").write_text(f"{corpus.CLANG_PRELUDE}#line 1\n{program}\n", encoding="utf-8")
    names = [f"p{number}.cl" for number in range(len(corpus.PROGRAMS))]
    result = subprocess.run([*CLANG, f"-cl-std={version}", "-w", *names], cwd=folder, capture_output=True, text=True,
                            timeout=120, check=False)
    found = re.findall(r"^p(\d+)\.cl:\d+:\d+: error: ", result.stderr, re.M)
    return frozenset(corpus.PROGRAMS[int(number)] for number in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clang")


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("version", LANGUAGES)
@pytest.mark.parametrize("program", corpus.PROGRAMS)
def test_acceptance_is_clangs(program: str, version: str, folder: Path) -> None:
    refused = refused_by_clang(folder, version)
    assert 30 < len(refused) < len(corpus.PROGRAMS) - 30  # clang ran, and looked at every file
    expected = program in corpus.LAXER or (program not in corpus.STRICTER and program not in refused)
    assert accepted(program, version) is expected


@pytest.mark.oracle("clang")
def test_exceptions_differ_from_clang(folder: Path) -> None:
    refused = [refused_by_clang(folder, version) for version in LANGUAGES]
    for program in corpus.STRICTER:
        assert any(program not in found for found in refused), program
    for program in corpus.LAXER:
        assert any(program in found for found in refused), program


MACROS = {
    "CL1.0": {"__OPENCL_C_VERSION__": "100", "__OPENCL_VERSION__": "300", "CL_VERSION_1_2": "120"},
    "CL1.1": {"__OPENCL_C_VERSION__": "110", "CL_VERSION_3_0": "300"},
    "CL1.2": {"__OPENCL_C_VERSION__": "120", "cl_khr_subgroups": "1", "cl_intel_subgroups": "1", "cl_khr_fp64": "1",
              "CLK_LOCAL_MEM_FENCE": "0x01"},
    "CL2.0": {"__OPENCL_C_VERSION__": "200", "__opencl_c_generic_address_space": "1", "ATOMIC_FLAG_INIT": "0",
              "__opencl_c_atomic_order_seq_cst": "1", "__opencl_c_work_group_collective_functions": "1"},
    "CL3.0": {"__OPENCL_C_VERSION__": "300", "__opencl_c_fp64": "1", "__opencl_c_subgroups": "1",
              "__opencl_c_generic_address_space": "1", "__opencl_c_int64": "1"},
}
ABSENT = {
    "CL1.0": ("__opencl_c_generic_address_space",), "CL1.1": ("ATOMIC_VAR_INIT",),
    "CL1.2": ("__opencl_c_work_group_collective_functions", "__opencl_c_fp64", "CLK_IMAGE_MEM_FENCE"),
    "CL2.0": ("__opencl_c_fp64", "__opencl_c_subgroups"), "CL3.0": ("__cplusplus",),
}


@pytest.mark.parametrize("version", LANGUAGES)
def test_macros(version: str) -> None:
    """The macros whose presence or value depends on the version, as clang 16 and its headers define them."""
    lines = [f"_Static_assert({name} == {value}, \"\");" for name, value in MACROS[version].items()]
    lines += [f"#ifdef {name}\n#error {name}\n#endif" for name in ABSENT[version]]
    compile_source("\n".join(lines), options=BuildOptions(language=LANGUAGES[version]))


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("version", LANGUAGES)
def test_built_in_functions_of_a_version(version: str, tmp_path: Path) -> None:
    """The functions of the table that belong to the language, by name, as clang declares them."""
    names = [name for name, family in builtins.TABLE.items()
             if name in builtins.SINCE or not any(row.needs for row, _ in family.members)]
    calls = "".join(f"{name}();\n" for name in names
                    if not name.startswith(("__", "intel_", "as_")) and "sub_group" not in name)
    (tmp_path / "calls.cl").write_text(f"{corpus.CLANG_PRELUDE}\nvoid f(void) {{\n{calls}}}\n", encoding="utf-8")
    result = subprocess.run([*CLANG, f"-cl-std={version}", "-w", "calls.cl"], cwd=tmp_path, capture_output=True,
                            text=True, timeout=120, check=False)
    unknown = set(re.findall(r"error: use of undeclared identifier '(\w+)'", result.stderr))
    number = LANGUAGES[version].number
    expected = {name for name, since in builtins.SINCE.items() if since > number and name != builtins.PRINTF}
    assert unknown == expected


def first_error(source: str, version: str) -> str:
    with pytest.raises(CompileError) as caught:
        compile_source(source, options=BuildOptions(language=LANGUAGES[version]))
    return caught.value.diagnostics[0].header.removeprefix("<source>:")


@pytest.mark.parametrize(("source", "version", "message"), [
    ("void f(void) { work_group_barrier(1); }", "CL1.2",
     "1:16: error: built-in function 'work_group_barrier' does not exist in OpenCL C 1.2; compile with "
     "-cl-std=CL2.0 or later [CM3951]"),
    ("int f(int x) { return popcount(x); }", "CL1.1",
     "1:23: error: built-in function 'popcount' does not exist in OpenCL C 1.1; compile with -cl-std=CL1.2 or later "
     "[CM3951]"),
    ("void f(__generic int *p) { }", "CL1.2",
     "1:8: error: OpenCL C version 1.2 does not support the '__generic' type qualifier [CM3952]"),
    ("static void f(void) { }", "CL1.1",
     "1:1: error: OpenCL C version 1.1 does not support the 'static' storage class specifier [CM3953]"),
    ("kernel void f(global int *p) { static constant int x = 1; }", "CL1.2",
     "1:52: error: variables in function scope cannot be declared static in OpenCL C 1.2 [CM3954]"),
    ("void g(int *p) { } kernel void f(global int *p) { g(p); }", "CL1.2",
     "1:53: error: passing '__global int *' to parameter of type '__private int *' changes address space of pointer "
     "[CM3005]"),
    ("atomic_int x;", "CL1.2", "1:1: error: unknown type name 'atomic_int' [CM3103]"),
    ("kernel void k(global int * global *p) { }", "CL1.2",
     "1:36: error: kernel parameter cannot be declared as a pointer to a pointer [CM3351]"),
])
def test_what_a_version_lacks(source: str, version: str, message: str) -> None:
    assert first_error(source, version) == message


def test_has_builtin_knows_the_version() -> None:
    source = "#if __has_builtin(ctz) || !__has_builtin(sub_group_all)\n#error wrong\n#endif"
    compile_source(source, options=BuildOptions(language=LANGUAGES["CL1.2"]))


PRIVATE_POINTERS = """
typedef int *pointer;
struct pair { int first, second; };
int sum(int *values, struct pair *p) { return values[0] + values[1] + p->second; }
kernel void run(global int *out)
{
    uint word = 0x20001;
    ushort *halves = (ushort *)&word;
    int values[2] = {halves[0], halves[1]};
    struct pair p = {10, 20};
    pointer q = values;
    *q += 100;
    out[get_global_id(0)] = sum(q, &p);
}
"""


@pytest.mark.parametrize("version", LANGUAGES)
def test_pointers_without_address_space_run_in_every_version(version: str) -> None:
    """In 1.x they point to private memory, later anywhere; this program does not mind."""
    device = cm.device("sim:generic")
    out = np.zeros(16, np.int32)
    program = cm.build(PRIVATE_POINTERS, f"-cl-std={version}", device)
    cm.Queue(device).enqueue(program.kernel("run"), 16, 16, out).wait()
    np.testing.assert_array_equal(out, 123)
    assert ("Generic" in program.spirv_asm) is (version >= "CL2.0")
