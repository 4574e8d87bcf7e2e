"""What probing an instruction shows, as lines of text beside a model's claims."""

from __future__ import annotations

from coopmat.probing import Multiply, claims, compare, probe, setup_of


def report(title: str, architecture: str, types: tuple[str, str, str, str], shape: tuple[int, int, int],
           multiply: Multiply, *, saturating: bool = False) -> tuple[list[str], int]:
    """The lines about one instruction, and how many properties differ."""
    m, n, k = shape
    setup = setup_of(types, k)
    properties = compare(probe(multiply, setup, m, n), claims(architecture, setup, m, n, saturating=saturating))
    lines = [title]
    for each in properties:
        claimed = "as claimed" if each.agrees else f"DIFFERS from the claim: {each.claimed}"
        lines.append(f"  {each.name + ':':36} {each.found}  ({claimed})")
    return lines, sum(not each.agrees for each in properties)


def summary(instructions: int, differences: int) -> int:
    """Print the last line; the exit code."""
    print(f"{instructions} instructions, {differences} properties differ from the models' claims")
    return 1 if differences else 0
