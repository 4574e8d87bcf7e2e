"""All cases of the corpus, from all files of cases/."""

from __future__ import annotations

import importlib
import pkgutil

from tests.kit.spirv import cases
from tests.kit.spirv.case import Case

CASES: list[Case] = [case for found in pkgutil.iter_modules(cases.__path__)
                     for case in importlib.import_module(f"{cases.__name__}.{found.name}").CASES]
