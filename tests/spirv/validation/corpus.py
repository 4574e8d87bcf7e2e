"""All cases of the corpus, from all files ``cases_….py``."""

from __future__ import annotations

import importlib
import pkgutil

import tests.spirv.validation as here
from tests.spirv.validation.cases import Case

CASES: list[Case] = [case for found in pkgutil.iter_modules(here.__path__) if found.name.startswith("cases_")
                     for case in importlib.import_module(f"{here.__name__}.{found.name}").CASES]
