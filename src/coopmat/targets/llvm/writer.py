"""The text of one LLVM function: instructions, blocks, stack slots, and declarations of what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Operand = tuple[str, str]  # type and text


ROLLED = "!90000"
METADATA = f'{ROLLED} = distinct !{{{ROLLED}, !90001}}\n!90001 = !{{!"llvm.loop.unroll.disable"}}'
"""What a module has that loops refer to; LLVM's own numbers begin at 0."""


class Writer:
    """Collects the lines of a function's body; the entry block with the stack slots comes before them. ``stack``: the
    address space of stack slots on the machine; pointers to them are generic ones. ``slots``: their types."""

    def __init__(self, stack: int = 0) -> None:
        self.stack = stack
        self.entry: list[str] = []
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.helpers: dict[str, str] = {}  # whole functions, by name
        self.block = "entry"  # the label of the block that is being written
        self._count = 0

    @contextmanager
    def in_entry(self) -> Iterator[None]:
        """What is written meanwhile stands in the entry block."""
        lines, block, self.lines = self.lines, self.block, self.entry
        try:
            yield
        finally:
            self.lines, self.block = lines, block

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is written meanwhile is the body of another function."""
        kept = self.lines, self.entry, self.slots, self.block
        self.lines, self.entry, self.slots, self.block = [], [], [], "entry"
        try:
            yield
        finally:
            self.lines, self.entry, self.slots, self.block = kept

    def fresh(self, prefix: str = "v") -> str:
        """A name that nothing has."""
        self._count += 1
        return f"%{prefix}{self._count}"

    def let(self, instruction: str) -> str:
        """Write an instruction with a result, and return its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.block = name
        self.lines.append(f"{name}:")

    def line(self, base: str, number: int | str, pitch: int | str) -> str:
        """The address of a line of memory; ``pitch``: the bytes from one to the next."""
        offset = self.let(f"mul i64 {pitch}, {number}")
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Code that runs where a condition holds."""
        then, rest = self.fresh("then")[1:], self.fresh("rest")[1:]
        self.do(f"br i1 {condition}, label %{then}, label %{rest}")
        self.label(then)
        body()
        self.do(f"br label %{rest}")
        self.label(rest)

    def repeat(self, count: int | str, carried: Sequence[Operand],
               body: Callable[[str, list[str]], Sequence[str]], *, unrolls: bool = True) -> Sequence[str]:
        """A loop of at least one turn. ``body`` gets the turn's number, an i64, and the operands that are carried from
        turn to turn, and gives those of the next one. Returns the last ones. ``unrolls``: LLVM may unroll the loop; it
        does not see how long code for wide vectors becomes."""
        start, head, end = (self.fresh(name)[1:] for name in ("before", "turn", "after"))
        self.do(f"br label %{start}")
        self.label(start)
        self.do(f"br label %{head}")
        self.label(head)
        number, following = self.fresh("n"), self.fresh("next")
        names = [self.fresh("carried") for _ in carried]
        place = len(self.lines)
        found = body(number, names)
        latch = self.block
        self.lines[place:place] = [
            f"  {number} = phi i64 [ 0, %{start} ], [ {following}, %{latch} ]",
            *(f"  {name} = phi {llvm} [ {first}, %{start} ], [ {last}, %{latch} ]"
              for name, (llvm, first), last in zip(names, carried, found, strict=True))]
        self.do(f"{following} = add nuw nsw i64 {number}, 1")
        done = self.let(f"icmp eq i64 {following}, {count}")
        self.do(f"br i1 {done}, label %{end}, label %{head}" + ("" if unrolls else f", !llvm.loop {ROLLED}"))
        self.label(end)
        return found

    def count(self, count: int, body: Callable[[str], None], *, unrolls: bool = True) -> None:
        """A loop of so many turns, which may be none, that carries nothing."""
        if count:
            self.turns(count, body, unrolls=unrolls)

    def turns(self, count: int | str, body: Callable[[str], None], *, unrolls: bool = False) -> None:
        """A loop of at least one turn that carries nothing."""
        def turn(number: str, carried: list[str]) -> list[str]:
            body(number)
            return carried

        self.repeat(count, [], turn, unrolls=unrolls)

    def all_of(self, first: str, *others: str) -> str:
        """Whether all of some conditions hold, each an i1."""
        for one in others:
            first = one if first == "true" else self.let(f"and i1 {first}, {one}")
        return first

    def of_word(self, llvm: str, word: str) -> str:
        """The bits of an i32 as a type of 32 bits."""
        return word if llvm == "i32" else self.let(f"bitcast i32 {word} to {llvm}")

    def slot(self, llvm: str, *, align: int = 0, initial: str | None = None) -> str:
        """A stack slot; ``initial`` is what it holds at the start."""
        name = self.fresh("slot")
        self.slots.append(llvm)
        end = f", align {align}" if align else ""
        if self.stack:
            self.entry += [f"  {name}.own = alloca {llvm}{end}, addrspace({self.stack})",
                           f"  {name} = addrspacecast ptr addrspace({self.stack}) {name}.own to ptr"]
        else:
            self.entry.append(f"  {name} = alloca {llvm}{end}")
        if initial is not None:
            self.entry.append(f"  store {llvm} {initial}, ptr {name}")
        return name

    def call(self, result: str, name: str, operands: Sequence[Operand], attributes: str = "") -> str:
        """Call a function that is declared, or a helper. The name of the result; empty for ``void``.

        That it is convergent stands at the call, too: LLVM gives the declarations of its intrinsics attributes of its
        own, and those of mma.sync may be moved to where only some threads come.
        """
        if name not in self.helpers:
            types = ", ".join(llvm for llvm, _ in operands)
            self.declarations.setdefault(name, f"declare {result} @{name}({types}) {attributes}".rstrip())
        text = f"call {result} @{name}({', '.join(f'{llvm} {text}' for llvm, text in operands)})"
        text += " convergent" if "convergent" in attributes else ""
        if result == "void":
            self.do(text)
            return ""
        return self.let(text)

    def helper(self, name: str, text: str) -> None:
        """Add a whole function to the module, once."""
        self.helpers.setdefault(name, text)
