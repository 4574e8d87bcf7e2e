"""One-line forms of syntax trees and of kernel trees, for tests that look at their shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from coopmat.diagnostics import DiagnosticSink, SourceFile
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.parser import parse
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from coopmat.tree import nodes as n
from coopmat.tree.types import AddressSpace

# ------------------------------------------------------------------ syntax


def parse_text(text: str) -> tuple[syntax.TranslationUnit, DiagnosticSink]:
    """The syntax tree of a source, and what was reported."""
    sink = DiagnosticSink()
    preprocessor = Preprocessor(sink, include_paths=(), features=frozenset(),
                                has_builtin=lambda name: False)
    tokens = preprocessor.run(SourceFile("k.cl", text))
    return parse(tokens, sink, keywords.BUILTIN_TYPE_NAMES), sink


PLACES = ("location", "type_location", "close", "end", "as_float", "parentheses", "else_location", "target", "tokens")


def syntax_text(node: object) -> str:
    """``(Kind field=value …)`` without locations and without fields that have their default value."""
    if isinstance(node, syntax.Node):
        parts = [f"{field.name}={syntax_text(value)}" for field in fields(node)
                 if field.name not in PLACES
                 and (value := getattr(node, field.name)) not in (None, False, [], {})]
        return f"({' '.join([type(node).__name__, *parts])})"
    if isinstance(node, dict):
        return "{" + " ".join(node) + "}"
    if isinstance(node, list):
        return "[" + " ".join(map(syntax_text, node)) + "]"
    return str(node)


# ------------------------------------------------------------------ expressions as they group


def grouped(node: syntax.Expression) -> str:
    """An expression with all parentheses, as it was grouped."""
    match node:
        case syntax.Name(name=name):
            return name
        case syntax.IntegerLiteral(value=value) | syntax.FloatLiteral(value=value):
            return str(value)
        case syntax.StringLiteral(value=value):
            return repr(value)[1:]
        case syntax.Unary(operator=operator, operand=operand):
            return f"({operator}{grouped(operand)})"
        case syntax.Postfix(operator=operator, operand=operand):
            return f"({grouped(operand)}{operator})"
        case syntax.Binary(operator=operator, left=left, right=right):
            return f"({grouped(left)} {operator} {grouped(right)})"
        case syntax.Assignment(operator=operator, target=target, value=value):
            return f"({grouped(target)} {operator} {grouped(value)})"
        case syntax.Conditional(condition=condition, if_true=None, if_false=if_false):
            return f"({grouped(condition)} ?: {grouped(if_false)})"
        case syntax.Conditional(condition=condition, if_true=if_true, if_false=if_false):
            assert if_true is not None
            return f"({grouped(condition)} ? {grouped(if_true)} : {grouped(if_false)})"
        case syntax.FunctionCall(function=function, arguments=arguments):
            return f"{grouped(function)}({', '.join(map(grouped, arguments))})"
        case syntax.Index(base=base, index=index):
            return f"{grouped(base)}[{grouped(index)}]"
        case syntax.Member(base=base, name=name, arrow=arrow):
            return f"{grouped(base)}{'->' if arrow else '.'}{name}"
        case syntax.Cast(type_name=name, operand=operand):
            return f"(({type_text(name)}){grouped(operand)})"
        case syntax.ParenthesizedList(items=items):
            return f"<{', '.join(map(grouped, items))}>"
        case syntax.SizeOf(operand=operand, is_alignment=is_alignment):
            inner = type_text(operand) if isinstance(operand, syntax.TypeName) else grouped(operand)
            return f"{'alignof' if is_alignment else 'sizeof'}({inner})"
        case syntax.VecStep(operand=operand):
            return f"vec_step({type_text(operand) if isinstance(operand, syntax.TypeName) else grouped(operand)})"
        case syntax.CompoundLiteral(type_name=name, initializer=initializer):
            return f"({type_text(name)}){grouped(initializer)}"
        case syntax.InitializerList(items=items):
            return "{" + ", ".join(map(_item, items)) + "}"
        case syntax.StatementExpression(body=body):
            return f"({{{len(body.items)}}})"
        case syntax.GenericSelection(operand=operand, associations=associations):
            arms = [f"{'default' if a.type_name is None else type_text(a.type_name)}: {grouped(a.value)}"
                    for a in associations]
            return f"_Generic({', '.join([grouped(operand), *arms])})"
        case syntax.BuiltinOperation(name=name, operands=operands):
            return f"{name}({', '.join(map(_operand, operands))})"
    raise TypeError(type(node).__name__)


def _operand(operand: syntax.TypeName | syntax.Expression | syntax.MemberPath) -> str:
    if isinstance(operand, syntax.MemberPath):
        return "".join(map(_designator, operand.designators))
    return type_text(operand) if isinstance(operand, syntax.TypeName) else grouped(operand)


def _designator(designator: syntax.Designator) -> str:
    if designator.index is None:
        return f".{designator.name}"
    last = "" if designator.last is None else f" ... {grouped(designator.last)}"
    return f"[{grouped(designator.index)}{last}]"


def _item(item: syntax.InitializerItem) -> str:
    path = "".join(map(_designator, item.designators))
    return f"{path} = {grouped(item.value)}" if path else grouped(item.value)


# ------------------------------------------------------------------ declarations in words


def specifier_text(specifiers: syntax.Specifiers) -> str:
    """Storage, qualifiers and type of specifiers."""
    words = [*specifiers.storage, *(["kernel"] if specifiers.is_kernel else []), *specifiers.qualifiers]
    words += specifiers.type_words
    if specifiers.named is not None:
        words.append(specifiers.named)
    if specifiers.record is not None:
        words.append(f"{'union' if specifiers.record.is_union else 'struct'} {specifiers.record.tag}")
    if specifiers.enumeration is not None:
        words.append(f"enum {specifiers.enumeration.tag}")
    if specifiers.type_of is not None:
        words.append(f"__typeof__({_operand(specifiers.type_of)})")
    return " ".join(words)


def declarator_text(declarator: syntax.Declarator, base: str) -> str:
    """A declarator in words, from the name outwards: ``a: array 3 of pointer to int``."""
    match declarator:
        case syntax.NameDeclarator(name=name):
            return f"{name or '_'}: {base}"
        case syntax.PointerDeclarator(inner=inner, qualifiers=qualifiers):
            words = " ".join([*qualifiers, "pointer to"])
            return declarator_text(inner, f"{words} {base}")
        case syntax.ArrayDeclarator(inner=inner, size=size):
            count = "?" if size is None else grouped(size)
            return declarator_text(inner, f"array {count} of {base}")
        case syntax.FunctionDeclarator(inner=inner, parameters=parameters, variadic=variadic):
            texts = [declarator_text(p.declarator, specifier_text(p.specifiers)) for p in parameters]
            texts += ["..."] if variadic else []
            return declarator_text(inner, f"function({', '.join(texts)}) returning {base}")
    raise TypeError(type(declarator).__name__)


def type_text(name: syntax.TypeName) -> str:
    """A type name in words."""
    return declarator_text(name.declarator, specifier_text(name.specifiers)).removeprefix("_: ")


# ------------------------------------------------------------------ kernel trees


def expression_text(node: n.Expression) -> str:
    """An expression of the kernel tree with its conversions: ``(float)(x + 1)``."""
    match node:
        case n.Constant(value=value, type=type_):
            return f"{value}:{type_}"
        case n.Zero(type=type_):
            return f"zero:{type_}"
        case n.Load(place=place):
            return place_text(place)
        case n.AddressOf(place=place):
            return f"&{place_text(place)}"
        case n.Unary(operator=operator, operand=operand):
            return f"{operator.value}{expression_text(operand)}"
        case n.Binary(operator=operator, left=left, right=right):
            return f"({expression_text(left)} {operator.value} {expression_text(right)})"
        case n.Logical(is_and=is_and, left=left, right=right):
            return f"({expression_text(left)} {'&&' if is_and else '||'} {expression_text(right)})"
        case n.Conditional(condition=condition, if_true=if_true, if_false=if_false):
            return f"({expression_text(condition)} ? {expression_text(if_true)} : {expression_text(if_false)})"
        case n.Select(condition=condition, if_true=if_true, if_false=if_false):
            return f"select({_list((condition, if_true, if_false))})"
        case n.Comma(first=first, second=second):
            return f"({expression_text(first)}, {expression_text(second)})"
        case n.Convert(operand=operand, type=type_, rounding=rounding, saturate=saturate):
            manner = ("_sat" if saturate else "") + (f"_{rounding}" if rounding else "")
            return f"({type_}{manner}){expression_text(operand)}"
        case n.Bitcast(operand=operand, type=type_):
            return f"bits<{type_}>({expression_text(operand)})"
        case n.CastAddressSpace(operand=operand, type=type_):
            return f"space<{type_}>({expression_text(operand)})"
        case n.Splat(operand=operand, type=type_):
            return f"splat<{type_}>({expression_text(operand)})"
        case n.Aggregate(elements=parts) | n.VectorOf(parts=parts):
            return "{" + _list(parts) + "}"
        case n.UnionOf(index=index, value=value):
            return f"{{.#{index} = {expression_text(value)}}}"
        case n.Swizzle(operand=operand, components=components):
            return f"{expression_text(operand)}.{_digits(components)}"
        case n.ExtractComponent(operand=operand, index=index):
            return f"{expression_text(operand)}[{expression_text(index)}]"
        case n.ExtractField(operand=operand, index=index):
            return f"{expression_text(operand)}.#{index}"
        case n.PointerOffset(pointer=pointer, offset=offset):
            return f"({expression_text(pointer)} +> {expression_text(offset)})"
        case n.PointerDifference(left=left, right=right):
            return f"({expression_text(left)} -> {expression_text(right)})"
        case n.Assign(place=place, value=value):
            return f"{place_text(place)} = {expression_text(value)}"
        case n.CurrentValue():
            return "old"
        case n.Update(place=place, value=value, returns_old=returns_old):
            return f"{'post ' if returns_old else ''}{place_text(place)} := {expression_text(value)}"
        case n.Call(function=function, arguments=arguments):
            return f"{function.name}({_list(arguments)})"
        case n.Operation(name=name, arguments=arguments):
            return f"{name}({_list(arguments)})"
        case n.StatementExpression(statements=statements, value=value):
            end = "" if value is None else f" {expression_text(value)}"
            return f"({{{' '.join(map(statement_text, statements))}{end}}})"
    return type(node).__name__


def _list(nodes: Iterable[n.Expression]) -> str:
    return ", ".join(map(expression_text, nodes))


def _digits(components: tuple[int, ...]) -> str:
    return "s" + "".join(f"{component:x}" for component in components)


def place_text(place: n.Place) -> str:
    """A place of the kernel tree."""
    match place:
        case n.VariablePlace(variable=variable):
            return variable.name
        case n.Dereference(pointer=pointer):
            return f"*{expression_text(pointer)}"
        case n.ElementPlace(base=base, index=index):
            return f"{place_text(base)}[{expression_text(index)}]"
        case n.FieldPlace(base=base, index=index):
            return f"{place_text(base)}.#{index}"
        case n.SwizzlePlace(base=base, components=components):
            return f"{place_text(base)}.{_digits(components)}"
    raise TypeError(type(place).__name__)


def statement_text(node: n.Statement) -> str:
    """A statement of the kernel tree."""
    match node:
        case n.Declare(variable=variable, initializer=initializer):
            space = "" if variable.address_space is AddressSpace.PRIVATE else f"{variable.address_space} "
            value = "" if initializer is None else f" = {expression_text(initializer)}"
            return f"{space}{variable.type} {variable.name}{value};"
        case n.Evaluate(expression=expression):
            return f"{expression_text(expression)};"
        case n.Block(statements=statements):
            return "{ " + " ".join(map(statement_text, statements)) + " }" if statements else "{ }"
        case n.If(condition=condition, then=then, otherwise=otherwise):
            tail = "" if otherwise is None else f" else {statement_text(otherwise)}"
            return f"if ({expression_text(condition)}) {statement_text(then)}{tail}"
        case n.Loop(condition=condition, body=body, step=step, tests_last=tests_last, unroll=unroll):
            word = "until-last" if tests_last else "loop"
            hint = "" if unroll is None else f" unroll {unroll}"
            test = "" if condition is None else expression_text(condition)
            after = "" if step is None else expression_text(step)
            return f"{word}{hint} ({test}; {after}) {statement_text(body)}"
        case n.Switch(value=value, body=body, cases=cases):
            labels = ", ".join("default" if case.value is None else str(case.value) for case in cases)
            return f"switch ({expression_text(value)}) [{labels}] {statement_text(body)}"
        case n.Case(value=value):
            return "default:" if value is None else f"case {value}:"
        case n.Return(value=value):
            return "return;" if value is None else f"return {expression_text(value)};"
        case n.Label(name=name):
            return f"{name}:"
        case n.Goto(label=label):
            return f"goto {label};"
    return f"{type(node).__name__.lower()};"
