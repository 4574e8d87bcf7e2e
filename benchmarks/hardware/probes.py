"""Probing one instruction of a chip, and printing what it shows beside what the model claims (docs/probing.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coopmat.probing import Multiply, claims, compare, probe, setup_of


@dataclass(frozen=True)
class Probed:
    """An instruction: its name, the types of A, B, C and D, M, N and K, and the architecture whose model claims."""

    name: str
    types: tuple[str, str, str, str]
    shape: tuple[int, int, int]
    architecture: str
    saturating: bool = False


def report(found: Probed, multiply: Multiply) -> tuple[list[str], int]:
    """The lines about one instruction, and how many properties differ."""
    m, n, k = found.shape
    setup = setup_of(found.types, k)
    properties = compare(probe(multiply, setup, m, n),
                         claims(found.architecture, setup, saturating=found.saturating))
    lines = [found.name]
    for each in properties:
        claimed = "as claimed" if each.agrees else f"DIFFERS from the claim: {each.claimed}"
        lines.append(f"  {each.name + ':':44} {each.found}  ({claimed})")
    return lines, sum(not each.agrees for each in properties)


def report_all(instructions: Iterable[tuple[Probed, Multiply]]) -> int:
    """Print the reports; how many properties differ."""
    count = differences = 0
    for found, multiply in instructions:
        lines, wrong = report(found, multiply)
        print("\n".join(lines), flush=True)
        count, differences = count + 1, differences + wrong
    print(f"{count} instructions, {differences} properties differ from the models' claims")
    return differences
