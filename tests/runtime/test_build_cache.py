"""Programs from the cache: the same as compiled ones, and never those of another source."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat import llvm, opencl
from coopmat.diagnostics import CompileError
from coopmat.runtime import sources
from coopmat.runtime.saved import Compilation, join
from coopmat.runtime.sources import OpenCLSource
from coopmat.support import cache as cache_module
from coopmat.support.build_options import BuildOptions
from coopmat.support.cache import Cache
from tests.kit.paths import ROOT

SCALE = """
kernel void scale(global float *p, float factor)
{
    p[get_global_id(0)] *= factor;
}
"""
ODD = "kernel void k(global int *p) { p[0] = p[1] / 0; }"
WARNINGS = """#include "third.h"
#define NOTHING 0
#define NOTHING (1 - 1)
#define TWICE(x) THIRD(x) + THIRD(x)
#pragma unknown
kernel void k(global int *p) {
    p[0] = TWICE(p[1]);
#line 40 "elsewhere.cl"
    p[2] = p[1] << 99;\tp[3] = TWICE(p[2]) / NOTHING;
}
"""


class Compilations:
    """How often the front end ran, and builds with a cache of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def build(self, source: str | Path, options: str | tuple[str, ...] = (), device: str | None = None) -> cm.Program:
        return cm.build(source, options, device, cache_dir=self.folder)

    def are_needed(self, source: str | Path, options: tuple[str, ...] = (), device: str | None = None) -> bool:
        """Whether building takes the front end."""
        before = self.count
        self.build(source, options, device)
        return self.count > before


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compilations:
    counter = Compilations(tmp_path / "cache")
    original = opencl.compile_source

    def counted(*arguments: object, **options: object) -> object:
        counter.count += 1
        return original(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(opencl, "compile_source", counted)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return counter


def forms(program: cm.Program) -> tuple[object, ...]:
    return (program.spirv, program.spirv_asm, program.llvm_ir, program.warnings, list(map(str, program.warnings)),
            program.source_name, [str(kernel.signature) for kernel in program.kernels.values()])


# ------------------------------------------------------------------------------- the same program


def test_a_program_from_the_cache_is_the_same(compilations: Compilations) -> None:
    compiled = compilations.build(SCALE, device="sim:generic")
    found = compilations.build(SCALE, device="sim:generic")
    assert compilations.count == 1
    assert forms(found) == forms(compiled)
    device = cm.device("sim:generic")
    values = np.arange(4, dtype=np.float32)
    cm.Queue(device).enqueue(found.kernel("scale"), 4, 4, values, 2.5).wait()
    assert values.tolist() == [0, 2.5, 5, 7.5]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.cl")), ids=lambda path: path.name)
def test_examples(compilations: Compilations, example: Path) -> None:
    assert forms(compilations.build(example)) == forms(compilations.build(example))


def test_warnings_are_the_same(compilations: Compilations) -> None:
    Path("third.h").write_text("#define THIRD(x) ((x) / (3 - 3))\n#pragma also unknown\n")
    Path("k.cl").write_text(WARNINGS)
    compiled, found = (compilations.build(Path("k.cl")) for _ in range(2))
    assert compilations.count == 1
    assert len(compiled.warnings) >= 8
    assert any("third.h" in str(warning) for warning in compiled.warnings)
    assert any("elsewhere.cl:40:" in str(warning) for warning in compiled.warnings)
    assert any("expanded from macro 'THIRD'" in str(warning) for warning in compiled.warnings)
    assert any(warning.notes for warning in compiled.warnings)
    assert forms(found) == forms(compiled)
    assert [warning.location.file.text for warning in found.warnings if warning.location] \
        == [warning.location.file.text for warning in compiled.warnings if warning.location]


def test_what_diagnostics_share_stays_shared() -> None:
    module = cm.build(SCALE).module
    file = cm.diagnostics.SourceFile("name", "text\ud800\n")
    places = [cm.SourceLocation(file, 1, 1), cm.SourceLocation(file, 1, 2, spelling=cm.SourceLocation(file, 1, 3))]
    notes = (cm.Diagnostic("note", "see", places[0]), cm.Diagnostic("note", "nowhere", None))
    warnings = [cm.Diagnostic("warning", "text ✓", places[1], "CM1", "name", notes),
                cm.Diagnostic("warning", "other", places[0])]
    found = Compilation.from_bytes(Compilation(module, warnings, {}, True).to_bytes())
    assert found is not None
    assert found.warnings == warnings
    first, second = (warning.location for warning in found.warnings)
    assert first is not None
    assert second is not None
    assert first.file is second.file
    assert first.file.text == file.text
    assert found.warnings[0].notes[0].location is second


# ------------------------------------------------------------------------------- what decides


def test_each_part_of_the_key_decides(compilations: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each build differs from those before it in one thing, and no program stands for another."""
    different: list[tuple[str | Path, tuple[str, ...], str | None]] = [
        (SCALE, (), None),
        (SCALE + "\n", (), None),
        (SCALE, ("-DA=1",), None),
        (SCALE, ("-DA=2",), None),
        (SCALE, ("-DB=1",), None),
        (SCALE, ("-DA=1", "-DB=1"), None),
        (SCALE, ("-DB=1", "-DA=1"), None),
        (SCALE, ("-I", "folder"), None),
        (SCALE, ("-w",), None),
        (SCALE, ("-Werror",), None),
        *((SCALE, (), name) for name in ("sim:intel_gpu_pvc", "sim:intel_gpu_dg2_g10", "sim:nvidia_gpu_sm_90")),
        (Path("a.cl"), (), None),
        (Path("b.cl"), (), None),
        (Path("./a.cl").absolute(), (), None),
    ]
    for name in ("a.cl", "b.cl"):
        Path(name).write_text(SCALE)
    assert [compilations.are_needed(*case) for case in different] == [True] * len(different)
    assert [compilations.are_needed(*case) for case in different] == [False] * len(different)
    assert not compilations.are_needed(SCALE, (), "sim:generic")  # what holds without a device
    Path("a.cl").write_text(SCALE.replace("scale", "other"))
    assert list(compilations.build(Path("a.cl")).kernels) == ["other"]
    monkeypatch.setattr(cache_module, "_PACKAGE", "another version")
    assert compilations.are_needed(*different[0])


def test_werror_is_not_served_the_warning(compilations: Compilations) -> None:
    assert compilations.build(ODD).warnings
    for _ in range(2):
        with pytest.raises(CompileError, match="error: "):
            compilations.build(ODD, ("-Werror",))
    assert not compilations.build(ODD, ("-w",)).warnings
    assert compilations.build(ODD).warnings
    assert compilations.count == 4  # the error is found each time


def test_errors_are_not_kept(compilations: Compilations) -> None:
    for _ in range(2):
        with pytest.raises(CompileError, match="undeclared identifier 'q'"):
            compilations.build("kernel void k(global int *p) { p[0] = q; }")
    assert compilations.count == 2
    assert Cache(compilations.folder).usage().entries == 0


@pytest.mark.parametrize("options", ["DA", 5, ("-DA", 5), ("-Q",), (None,)])
def test_options_that_are_none(compilations: Compilations, options: object) -> None:
    for _ in range(2):
        with pytest.raises(cm.Error, match="option"):
            compilations.build(SCALE, options)  # type: ignore[arg-type]


@pytest.mark.parametrize("macro", ["__DATE__", "__TIME__", "__TIMESTAMP__"])
def test_a_source_that_depends_on_the_time_is_not_kept(compilations: Compilations, macro: str) -> None:
    Path("time.h").write_text(f"#ifdef {macro}\n#endif\n")
    for source in (f"#ifdef {macro}\n#endif\n" + SCALE, '#include "time.h"\n' + SCALE):
        assert [compilations.are_needed(source) for _ in range(2)] == [True, True]


def test_the_cache_can_be_off(compilations: Compilations) -> None:
    for _ in range(2):
        cm.build(SCALE, cache_dir="off")
    assert compilations.count == 2
    assert not compilations.folder.exists()


def test_the_environment_names_the_folder(compilations: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(compilations.folder))
    for _ in range(2):
        cm.build(SCALE)
    assert compilations.count == 1


MATRIX = """
typedef half tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
kernel void k(global half *p) {
    tile a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    coop_mat_store(p, a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
"""


def test_a_program_that_the_device_cannot_run(compilations: Compilations) -> None:
    """It is kept, but for a device without its matrices it remains an error."""
    for _ in range(2):
        with pytest.raises(cm.KernelNotSupported, match="8x16 fp16"):
            compilations.build(MATRIX, device="sim:intel_cpu_spr")
    assert compilations.count == 1
    for _ in range(2):
        program = compilations.build(MATRIX, device="sim:intel_gpu_pvc")
        with pytest.raises(cm.KernelNotSupported):
            program.load(cm.device("sim:intel_cpu_spr"))
        assert program.load(cm.device("sim:intel_gpu_pvc"))
    assert compilations.count == 2


# ------------------------------------------------------------------------------- included files

INCLUDING = '#include "value.h"\nkernel void k(global int *p) { p[0] = VALUE; }\n'


def value_of(program: cm.Program) -> int:
    """What the kernel of INCLUDING stores."""
    result = np.zeros(1, np.int32)
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, result).wait()
    return int(result[0])


def test_an_included_file_that_changes(compilations: Compilations) -> None:
    header = Path("value.h")
    for value in (1, 2, 1):
        header.write_text(f"#define VALUE {value}\n")
        assert compilations.are_needed(INCLUDING)
        assert value_of(compilations.build(INCLUDING)) == value
    os.utime(header, ns=(1, 1))
    assert not compilations.are_needed(INCLUDING)
    header.unlink()
    with pytest.raises(CompileError, match=r"value\.h"):
        compilations.build(INCLUDING)


def test_a_file_that_an_included_file_includes(compilations: Compilations) -> None:
    Path("value.h").write_text('#include "deeper.h"\n#define VALUE DEEPER\n')
    for value in (1, 2):
        Path("deeper.h").write_text(f"#define DEEPER {value}\n")
        assert value_of(compilations.build(INCLUDING)) == value


def test_a_file_that_appears_earlier_in_the_search(compilations: Compilations) -> None:
    """The places of the search, from the last to the first: each new file hides the one before."""
    places = [Path("second"), Path("first"), Path("source")]
    for place in places:
        place.mkdir()
    source = Path("source") / "k.cl"
    source.write_text(INCLUDING)
    for value, place in enumerate(places):
        (place / "value.h").write_text(f"#define VALUE {value}\n")
        for _ in range(2):
            assert value_of(compilations.build(source, ("-I", "first", "-I", "second"))) == value
    assert compilations.count == 3
    (Path("source") / "value.h").unlink()
    assert value_of(compilations.build(source, ("-I", "first", "-I", "second"))) == 1


@pytest.mark.parametrize("options", [("-include", "folder/value.h"), ("-isystem", "folder", "-include", "value.h"),
                                     "-I folder -include value.h"])
def test_a_file_that_an_option_names(compilations: Compilations, options: str | tuple[str, ...]) -> None:
    source = INCLUDING.partition("\n")[2]
    Path("folder").mkdir()
    for value in (1, 2):
        Path("folder/value.h").write_text(f"#define VALUE {value}\n")
        for _ in range(2):
            assert value_of(compilations.build(source, options)) == value
    assert compilations.count == 2


def test_has_include(compilations: Compilations) -> None:
    source = ('#if __has_include("value.h")\n#define VALUE 1\n#else\n#define VALUE 0\n#endif\n'
              "kernel void k(global int *p) { p[0] = VALUE; }\n")
    assert value_of(compilations.build(source)) == 0
    Path("value.h").write_text("#error not read\n")
    assert value_of(compilations.build(source)) == 1
    Path("value.h").write_text("changed")
    assert not compilations.are_needed(source)
    Path("value.h").unlink()
    Path("value.h").mkdir()
    assert value_of(compilations.build(source)) == 0


def test_the_working_directory_decides_what_a_name_means(compilations: Compilations,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    for value, folder in enumerate((Path("zero"), Path("one"))):
        folder.mkdir()
        (folder / "value.h").write_text(f"#define VALUE {value}\n")
    home = Path.cwd()
    for value, name in ((0, "zero"), (1, "one"), (0, "zero")):
        monkeypatch.chdir(home / name)
        assert value_of(compilations.build(INCLUDING)) == value


def test_the_front_end_looks_at_files_through_one_object_only() -> None:
    """Or a program would be served although a file that it depends on has changed."""
    looks = re.compile(r"(\w+)\.(is_file|exists|stat|read_bytes|read_text|iterdir|glob|resolve(?=\(\)))\(|\bopen\(")
    for path in (ROOT / "src" / "coopmat" / "opencl").rglob("*.py"):
        for match in looks.finditer(path.read_text()):
            assert match[1] == "_files", f"{path}: {match[0]}"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_pragma_once_knows_a_file_by_its_links(compilations: Compilations) -> None:
    """Two names of one file, included once; two files with the same text, included twice."""
    text = "#pragma once\n#ifdef VALUE\n#undef VALUE\n#define VALUE 2\n#else\n#define VALUE 1\n#endif\n"
    Path("value.h").write_text(text)
    Path("other.h").symlink_to("value.h")
    source = '#include "value.h"\n#include "other.h"\nkernel void k(global int *p) { p[0] = VALUE; }\n'
    assert value_of(compilations.build(source)) == 1
    Path("other.h").unlink()
    Path("other.h").write_text(text)
    assert value_of(compilations.build(source)) == 2


def test_llvm_ir_comes_from_the_files_that_were_built(compilations: Compilations) -> None:
    """The tree of a program from the cache is made when it is asked for, and the file may be another by then."""
    Path("value.h").write_text("#define VALUE 1\n")
    compiled, found = (compilations.build(INCLUDING) for _ in range(2))
    Path("value.h").write_text("#define VALUE 2\n")
    ir = found.llvm_ir
    assert compilations.count == 2
    Path("value.h").unlink()
    assert compiled.llvm_ir == ir
    assert "store i32 1," in ir


# ------------------------------------------------------------------------------- LLVM


def test_what_llvm_made_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ll = tmp_path / "scale.ll"
    ll.write_text(cm.build(SCALE).llvm_ir)
    calls: list[str] = []
    for name in ("to_spirv", "optimize"):
        def counted(*arguments: object, _name: str = name, _original: object = getattr(llvm, name),
                    **options: object) -> object:
            calls.append(_name)
            return _original(*arguments, **options)  # type: ignore[operator]

        monkeypatch.setattr(llvm, name, counted)

    def everything() -> list[tuple[bytes, str]]:
        plain = cm.build(ll, cache_dir=tmp_path / "cache")
        other = cm.build(SCALE, cache_dir=tmp_path / "cache")
        made = [plain, plain.optimized(1), plain.optimized(2), other.optimized(2)]
        return [(program.spirv, program.llvm_ir) for program in made]

    first = everything()
    assert calls
    calls.clear()
    assert everything() == first
    assert calls == []
    monkeypatch.setattr(sources, "_llvm_version", lambda: "another version")
    assert everything() == first
    assert "optimize" in calls


# ------------------------------------------------------------------------------- damage


def content_of(compilations: Compilations) -> tuple[str, bytes]:
    """The key and the content of the one entry that building SCALE makes."""
    entry = OpenCLSource(SCALE, None, BuildOptions(), cm.device("sim:generic")).key
    compilations.build(SCALE)
    content = Cache(compilations.folder).get(entry)
    assert content is not None
    return entry, content


@pytest.mark.parametrize("content", [b"", bytes(8), b"\xff" * 100, b"[]", join("{}", b""), join("[]", b"")])
def test_content_that_is_no_program_is_replaced(compilations: Compilations, content: bytes) -> None:
    entry, whole = content_of(compilations)
    Cache(compilations.folder).put(entry, content)
    assert compilations.are_needed(SCALE)
    assert Cache(compilations.folder).get(entry) == whole
    assert not compilations.are_needed(SCALE)


BYTES = Compilation(cm.build(SCALE, cache_dir="off").module, cm.build(ODD, cache_dir="off").warnings,
                    {"present": {"a": True}, "contents": {}, "resolved": {}}, True).to_bytes()


@given(st.data())
@settings(max_examples=300)
def test_no_bytes_break_the_reader(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(BYTES)))
    end = data.draw(st.integers(start, min(len(BYTES), start + 20)))
    damaged = BYTES[:start] + data.draw(st.binary(max_size=20)) + BYTES[end:]
    found = Compilation.from_bytes(damaged)
    assert found is None or isinstance(found, Compilation)


# ------------------------------------------------------------------------------- processes

BUILDER = """
import sys
import coopmat as cm
for round in range(3):
    for number in range(6):
        source = "kernel void k(global int *p) { p[0] = NUMBER; }"
        program = cm.build(source, (f"-DNUMBER={number}",), "sim:generic", cache_dir=sys.argv[1])
        assert program.spirv == cm.build(source, (f"-DNUMBER={number}",), cache_dir="off").spirv
"""


def test_processes_that_build_the_same_at_once(tmp_path: Path) -> None:
    builders = [subprocess.Popen([sys.executable, "-c", BUILDER, str(tmp_path / "cache")], stderr=subprocess.PIPE,
                                 text=True) for _ in range(4)]
    for builder in builders:
        _, messages = builder.communicate(timeout=300)
        assert (builder.returncode, messages) == (0, "")
    assert Cache(tmp_path / "cache").usage().entries == 6


# ------------------------------------------------------------------------------- the command line


def coopmat(*arguments: str | Path, cache_dir: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "coopmat", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=False, env={**os.environ, "COOPMAT_CACHE_DIR": str(cache_dir)})


def test_commands_use_the_cache(tmp_path: Path) -> None:
    source, folder = tmp_path / "k.cl", tmp_path / "cache"
    source.write_text(ODD)
    first, second = (coopmat("check", source, cache_dir=folder) for _ in range(2))
    assert first.returncode == second.returncode == 0
    assert first.stderr == second.stderr
    assert "warning: " in first.stderr
    assert coopmat("check", source, "-Werror", cache_dir=folder).returncode == 1
    assert coopmat("cache", cache_dir=folder).stdout == f"{folder}: 1 entry, 4 KiB of at most 256 MiB\n"
    assert coopmat("check", source, "--cache-dir", tmp_path / "other", cache_dir=folder).returncode == 0
    assert coopmat("cache", "--cache-dir", tmp_path / "other", "--clear", cache_dir=folder).stdout \
        == f"{tmp_path / 'other'}: removed 1 entry, 4 KiB\n"
    assert coopmat("cache", "--clear", cache_dir=folder).stdout == f"{folder}: removed 1 entry, 4 KiB\n"
    assert coopmat("cache", cache_dir=folder).stdout == f"{folder}: 0 entries, 0 KiB of at most 256 MiB\n"
    assert coopmat("cache", cache_dir="off").stdout == "the cache is off\n"


def test_a_folder_that_cannot_be_used_costs_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    source = tmp_path / "k.cl"
    source.write_text(SCALE)
    result = coopmat("compile", source, "-o", tmp_path / "k.spv", cache_dir=tmp_path / "file")
    assert result.returncode == 0
    assert (tmp_path / "k.spv").exists()
    assert result.stderr.startswith("coopmat: warning: compiled kernels are not kept: ")
    assert result.stderr.count("\n") == 1
    assert coopmat("cache", cache_dir=tmp_path / "file").returncode == 0
