"""Statements: structured control flow with merge blocks, and unstructured flow without them."""

from __future__ import annotations

from coopmat.lowering import places
from coopmat.lowering.analysis import has_entry, needs_blocks
from coopmat.lowering.builder import BasicBlock, LoopMerge
from coopmat.lowering.context import Context, execute
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def run(statement: n.Statement, context: Context) -> None:
    """Lower a statement. What cannot be reached is left out, unless a jump leads into it."""
    if not context.is_open and not isinstance(statement, (n.Block, n.Label, n.Case)):
        if not _can_be_entered(statement, context):
            return
        context.open(context.builder.new_block("unreachable"))
    context.builder.locate(statement.location)
    execute(statement, context)


def _merge(block: BasicBlock, statement: n.Statement, context: Context) -> BasicBlock | None:
    """``block`` as the merge block of ``statement``, if control can get into that from its top only."""
    return None if context.facts.has_labels or _can_be_entered(statement, context) else block


def _can_be_entered(statement: n.Statement, context: Context) -> bool:
    """Whether control can come into the middle of ``statement``."""
    return context.facts.has_entries and has_entry(statement)


# -- Straight-line -------------------------------------------------------------------------


@execute.register
def _(node: n.Declare, context: Context) -> None:
    variable = node.variable
    if variable.address_space is not t.AddressSpace.PRIVATE:
        return  # of the module: see coopmat.lowering.walk
    context.address_of(variable)
    if node.initializer is not None:
        address = context.resolve(n.VariablePlace(variable.type, node.location, variable))
        value = context.evaluate(node.initializer)
        context.builder.locate(node.location)
        places.store(context, address, value)
        context.initialized.add(variable)


@execute.register
def _(node: n.Evaluate, context: Context) -> None:
    context.evaluate(node.expression)


@execute.register
def _(node: n.Block, context: Context) -> None:
    for statement in node.statements:
        run(statement, context)


# -- Choices -------------------------------------------------------------------------------


@execute.register
def _(node: n.If, context: Context) -> None:
    condition, = context.evaluate_all((node.condition,), node.condition)
    then, merge = context.builder.new_block("if.then"), context.builder.new_block("if.end")
    otherwise = merge if node.otherwise is None else context.builder.new_block("if.else")
    context.jump_if(condition, then, otherwise, _merge(merge, node, context))
    context.open(then)
    run(node.then, context)
    context.jump(merge)
    if node.otherwise is not None:
        context.open(otherwise)
        run(node.otherwise, context)
        context.jump(merge)
    context.open_merge(merge)


@execute.register
def _(node: n.Switch, context: Context) -> None:
    value, = context.evaluate_all((node.value,), node.value)
    blocks = [context.builder.new_block("switch.default" if case.value is None else "switch.case")
              for case in node.cases]
    context.case_blocks.update({id(case): block for case, block in zip(node.cases, blocks, strict=True)})
    end = context.builder.new_block("switch.end")
    labelled = [(case.value, block) for case, block in zip(node.cases, blocks, strict=True)]
    default = next((block for number, block in labelled if number is None), end)
    context.builder.switch(value, [(number, block) for number, block in labelled if number is not None],
                           default, _merge(end, node, context))
    context.targets |= {*blocks, default}
    context.is_open = False
    with context.jump_targets(leave=end):
        run(node.body, context)
    context.jump(end)
    context.open_merge(end)


@execute.register
def _(node: n.Case, context: Context) -> None:
    _enter(context.case_blocks[id(node)], context)


def _enter(block: BasicBlock, context: Context) -> None:
    """Fall into a labelled block, where a jump may have passed by the variables declared so far."""
    context.initialized.intersection_update(context.function.parameters)
    context.jump(block)
    context.open(block)


# -- Loops ---------------------------------------------------------------------------------


@execute.register
def _(node: n.Loop, context: Context) -> None:
    new_block = context.builder.new_block
    header, step, end = new_block("loop.header"), new_block("loop.step"), new_block("loop.end")
    merge = _merge(end, node, context)
    loop = None if merge is None else LoopMerge(merge, step, node.unroll)
    context.jump(header)
    context.open(header)
    condition = None if _is_true(node.condition) else node.condition
    body = new_block("loop.body")
    if condition is None or node.tests_last:
        context.jump(body, loop)
    else:
        _test(condition, body, end, loop, context)
    context.open(body)
    with context.jump_targets(leave=end, go_on=step):
        run(node.body, context)
    context.jump(step)
    _finish(node, condition, header, step, end, context)


def _test(condition: n.Expression, body: BasicBlock, end: BasicBlock, loop: LoopMerge | None,
          context: Context) -> None:
    """Leave the loop unless ``condition`` holds. A header is one block: a condition that takes more than
    one gets blocks of its own."""
    if needs_blocks(condition, context.speculation):
        test = context.builder.new_block("loop.test")
        context.jump(test, loop)
        context.open(test)
        loop = None
    value, = context.evaluate_all((condition,), condition)
    context.jump_if(value, body, end, loop)


def _finish(node: n.Loop, condition: n.Expression | None, header: BasicBlock, step: BasicBlock,
            end: BasicBlock, context: Context) -> None:
    """The step, the test if it comes last, and the way back."""
    context.open(step)
    if node.step is not None:
        context.evaluate(node.step)
    if node.tests_last and condition is not None:
        value, = context.evaluate_all((condition,), condition)
        context.jump_if(value, header, end)
    else:
        context.builder.locate(node.location)
        context.jump(header)
    context.open_merge(end)


def _is_true(condition: n.Expression | None) -> bool:
    return condition is None or (isinstance(condition, n.Constant) and bool(condition.value))


# -- Jumps ---------------------------------------------------------------------------------


@execute.register
def _(node: n.Break, context: Context) -> None:
    assert context.break_target is not None
    context.jump(context.break_target)


@execute.register
def _(node: n.Continue, context: Context) -> None:
    assert context.continue_target is not None
    context.jump(context.continue_target)


@execute.register
def _(node: n.Unreachable, context: Context) -> None:
    context.builder.unreachable()
    context.is_open = False


@execute.register
def _(node: n.Return, context: Context) -> None:
    value = None
    if node.value is not None:
        value, = context.evaluate_all((node.value,), node)
    is_void = isinstance(context.function.result, t.Void)
    context.builder.return_value(None if is_void else value)
    context.is_open = False


@execute.register
def _(node: n.Label, context: Context) -> None:
    _enter(_label(node.name, context), context)


@execute.register
def _(node: n.Goto, context: Context) -> None:
    context.jump(_label(node.label, context))


def _label(name: str, context: Context) -> BasicBlock:
    if name not in context.labels:
        context.labels[name] = context.builder.new_block(f"label.{name}")
    return context.labels[name]
