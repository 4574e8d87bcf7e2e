"""docs/validation.md: the rules of the validator, and where its verdicts differ from SPIRV-Tools'."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby

from coopmat.spirv.validate import RULES, Rule
from tests.kit.spirv.case import Case
from tests.kit.spirv.corpus import CASES

INTRODUCTION = """# Validation

`coopmat val FILE…` checks SPIR-V modules (binary or text, also OpenCL C and LLVM IR, which are compiled first) against
the rules below: SPIR-V's universal ones, those of OpenCL for modules with kernels, those of Vulkan for modules with
compute shaders (and no kernels), and those of the extensions for
matrices, dot products and small number formats. It reports every broken rule, not the first:

```sh
coopmat compile examples/gemm.cl -DTM=8 -DTN=16 -DTK=32 -o gemm.spv
coopmat val gemm.spv --device sim:intel_gpu_pvc
```

```
gemm.spv:0x1a4: error: the result of OpFAdd must be a floating-point number or a vector of them, not %5[%uint] …
    %sum = OpFAdd %uint %a %b
```

A line names the file, the offset of the instruction in the binary, the rule in brackets, and, below it, the instruction
with its ids by name. In messages an id is followed by its name, `%5[%uint]`. The exit code is 1 if an error was found;
warnings leave it at 0. With `--device`, a valid module is also checked for what that device has: matrix combinations,
sub-group sizes, extensions. In Python, `Module.validate(device)` gives the same as a list ([spirv.md](spirv.md)).

A module that cannot be read at all (a header of other words, a word count beyond the end, an id with two definitions)
gives one violation, as nothing can be said about the rest. Instructions that no table has may belong to an extension to
come: they are warned about, and what they define is not checked.
"""

DIFFERENCES = """
## Where SPIRV-Tools decides otherwise

The tests compare each verdict on a corpus of {count} modules, {valid} valid and {broken} broken ones, with `spirv-val`
2026.4 (universal environment, Vulkan 1.3 for its own rules). They differ on {different}; these are all of them.

| module | rule | here | why |
|---|---|---|---|"""


def validation_page() -> str:
    """The page."""
    lines = [INTRODUCTION, f"## Rules\n\nThere are {len(RULES)}; this table is made from the validator's by "
             "tools/make_docs.py. Sections of the SPIR-V specification are those of version 1.6, revision 6."]
    for title, rules in groupby(_in_order(), key=_title):
        lines += [f"\n### {title}\n\n| rule | what it asks for | where it is from |\n|---|---|---|"]
        lines += map(_row, rules)
    different = [case for case in CASES if case.spirv_val is not None]
    valid = sum(_is_valid(case) for case in CASES)
    lines.append(DIFFERENCES.format(count=f"{len(CASES):,}", valid=f"{valid:,}", broken=f"{len(CASES) - valid:,}",
                                    different=len(different)))
    lines += _difference_rows(different)
    return "\n".join(lines) + "\n"


def _title(rule: Rule) -> str:
    """What a family of rules is about: the beginning of its module's first sentence, without "Rules about"."""
    docstring = re.sub(r" \(.*?\)", "", sys.modules[rule.check.__module__].__doc__ or "", flags=re.S)
    sentence = re.split(r":|\n|, wh|, with|, and what|, its", docstring)[0].rstrip(".")
    for start in ("Rules about ", "Rules for ", "Rules of ", "Rules that ", "The rules about ", "The rules of "):
        sentence = sentence.removeprefix(start)
    return sentence[:1].upper() + sentence[1:]


def _in_order() -> list[Rule]:
    """All rules, those of one family together."""
    families = {rule.check.__module__: number for number, rule in enumerate(RULES.values())}
    return sorted(RULES.values(), key=lambda rule: families[rule.check.__module__])


def _row(rule: Rule) -> str:
    severity = "" if rule.severity == "error" else f" ({rule.severity})"
    return f"| `{rule.name}`{severity} | {_cell(rule.summary)} | {_cell(rule.section)} |"


def _is_valid(case: Case) -> bool:
    return all(RULES[name].severity == "warning" for name in case.rules)


def _difference_rows(cases: list[Case]) -> Iterator[str]:
    for case in sorted(cases, key=lambda case: (case.rules, case.name)):
        rules = ", ".join(f"`{name}`" for name in case.rules)
        verdict = "valid" if _is_valid(case) else "broken"
        yield f"| {_cell(case.name)} | {rules} | {verdict} | {_cell(case.spirv_val or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
