"""Parsing of declarations: specifiers, declarators, attributes, initialisers (C99 6.7, OpenCL C 6.7, 6.11)."""

from __future__ import annotations

from coopmat.diagnostics import FixIt, SourceLocation
from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.messages.semantic import UNKNOWN_TYPE
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.expressions import ExpressionParser
from coopmat.opencl.parse.token_stream import MAX_NESTING, SyntaxFailure
from coopmat.opencl.preprocess.spelling import closest
from coopmat.opencl.preprocess.tokens import Token, TokenKind

_OTHER_TYPE_WORDS = frozenset({"enum", keywords.AUTO_TYPE}) | keywords.TYPEOF_WORDS
_SPECIFIER_WORDS = (keywords.TYPE_WORDS | keywords.QUALIFIERS.keys() | keywords.ADDRESS_SPACES.keys()
                    | keywords.RECORD_WORDS | _OTHER_TYPE_WORDS)
_DECLARATION_WORDS = (_SPECIFIER_WORDS | keywords.STORAGE_CLASSES.keys() | keywords.KERNEL_WORDS
                      | keywords.ATTRIBUTE_WORDS | {"_Alignas", "_Noreturn"})
# Words that can begin a declaration if they are not declared as something else.
_REFUSED_SPECIFIERS = keywords.REFUSED_WORDS.keys() - {"asm", "__asm", "__asm__"}


class DeclarationParser(ExpressionParser):
    """Declarations and type names."""

    # ------------------------------------------------------------------ what begins a declaration

    def starts_type(self, token: Token) -> bool:
        """Whether ``token`` begins a type name: a type, a qualifier, or the name of a type."""
        if token.kind is not TokenKind.IDENTIFIER:
            return False
        return (token.text in _SPECIFIER_WORDS or token.text in keywords.ATTRIBUTE_WORDS
                or token.text in _REFUSED_SPECIFIERS or self._names_refused_type(token) or self.names_type(token))

    def _names_refused_type(self, token: Token) -> bool:
        return token.text in keywords.REFUSED_TYPES and not any(token.text in scope for scope in self.type_scopes)

    def starts_declaration(self) -> bool:
        """Whether a declaration begins at the cursor; ``name name`` is one whose type is unknown."""
        token = self.token
        if token.kind is not TokenKind.IDENTIFIER:
            return False
        if token.text in _DECLARATION_WORDS or token.text in _REFUSED_SPECIFIERS or self._names_refused_type(token):
            return True
        following = self.peek()
        if self.names_type(token):
            return following.text != ":"
        if token.text == "__extension__":
            return following.text in _DECLARATION_WORDS or self.names_type(following)
        return (token.text not in keywords.KEYWORDS and following.kind is TokenKind.IDENTIFIER
                and following.text not in keywords.KEYWORDS and not following.at_line_start)

    # ------------------------------------------------------------------ specifiers

    def specifiers(self) -> syntax.Specifiers:
        """Specifiers and qualifiers in any order (C99 6.7)."""
        result = syntax.Specifiers(self.location)
        while self.token.kind is TokenKind.IDENTIFIER and self._specifier(result):
            pass
        if not self._has_type(result):
            raise self.fail(messages.MISSING_TYPE, result.location)
        return result

    def _specifier(self, result: syntax.Specifiers) -> bool:
        """One specifier; False where there is none."""
        token = self.token
        word = token.text
        if word in keywords.ATTRIBUTE_WORDS:
            result.attributes += self.attributes()
        elif word in keywords.QUALIFIERS or word in keywords.ADDRESS_SPACES:
            self._qualifier(result.qualifiers)
        elif word in keywords.STORAGE_CLASSES:
            self._storage_class(result)
        elif word in keywords.KERNEL_WORDS:
            result.is_kernel = True
            self.advance()
        elif word == "__extension__":
            self.advance()
        elif word == "_Alignas":
            result.attributes.append(self._alignas())
        elif word == "_Noreturn":
            result.attributes.append(syntax.Attribute(self.advance().location, "noreturn"))
        elif word in _REFUSED_SPECIFIERS:
            raise self.fail(messages.UNSUPPORTED, what=keywords.REFUSED_WORDS[word])
        elif self._names_refused_type(token) and not self._has_type(result):
            raise self.fail(messages.UNSUPPORTED, what=keywords.REFUSED_TYPES[word])
        else:
            return self._type_specifier(result)
        return True

    def _type_specifier(self, result: syntax.Specifiers) -> bool:
        """A type: built-in words, struct, union, enum, or a name."""
        token = self.token
        location = token.location
        if token.text in keywords.TYPE_WORDS:
            if self._has_type(result) and not result.type_words:
                raise self.fail(messages.TWO_TYPES, first=self._type_so_far(result), second=token.text)
            result.type_words.append(self.advance().text)
        elif token.text in keywords.RECORD_WORDS or token.text in _OTHER_TYPE_WORDS:
            if self._has_type(result):
                raise self.fail(messages.TWO_TYPES, first=self._type_so_far(result), second=token.text)
            if token.text == "enum":
                result.enumeration = self.enum_specifier()
            elif token.text in keywords.RECORD_WORDS:
                result.record = self.record_specifier()
            elif token.text == keywords.AUTO_TYPE:
                result.is_auto = True
                self.advance()
            else:
                result.type_of = self._type_of()
        elif not self._has_type(result) and self._is_misspelt_specifier():
            self._report_misspelt_specifier()
            return True
        elif not self._has_type(result) and token.text not in keywords.KEYWORDS and self._is_type_position(result):
            result.named = self.advance().text
        else:
            return False
        result.type_location = result.type_location or location
        return True

    def _is_type_position(self, result: syntax.Specifiers) -> bool:
        """Whether the identifier at the cursor is a type's name, or stands where only that can stand."""
        if self.names_type(self.token):
            return True
        if self.token.text in keywords.CPLUSPLUS_WORDS:
            raise self.fail(messages.CPLUSPLUS, word=self.token.text)
        following = self.peek()
        return following.kind is TokenKind.IDENTIFIER or following.text == "*" or bool(
            result.qualifiers and following.text != "=")

    def _is_misspelt_specifier(self) -> bool:
        """Whether an unknown word stands where a type follows: ``__globl float *p``."""
        word, following = self.token, self.peek()
        return (not self.names_type(word) and word.text not in keywords.KEYWORDS
                and word.text not in keywords.CPLUSPLUS_WORDS
                and (following.text in _SPECIFIER_WORDS or self.names_type(following)))

    def _report_misspelt_specifier(self) -> None:
        """Say what an unknown word in front of a type was meant to be, and leave it out."""
        word = self.advance()
        meant = closest(word.text, sorted(_DECLARATION_WORDS))
        self.report(UNKNOWN_TYPE, word.location, fix=FixIt(word.location, meant) if meant is not None else None,
                    name=word.text, suggestion=f"; did you mean '{meant}'?" if meant is not None else "")

    @staticmethod
    def _has_type(result: syntax.Specifiers) -> bool:
        return bool(result.type_words or result.named or result.record or result.enumeration
                    or result.type_of or result.is_auto)

    @staticmethod
    def _type_so_far(result: syntax.Specifiers) -> str:
        if result.record is not None:
            return "union" if result.record.is_union else "struct"
        if result.type_of is not None or result.is_auto:
            return "__typeof__" if result.type_of is not None else keywords.AUTO_TYPE
        return result.named or ("enum" if result.enumeration is not None else " ".join(result.type_words))

    def _type_of(self) -> syntax.TypeName | syntax.Expression:
        """``__typeof__(type)`` or ``__typeof__(expression)``, a GNU extension."""
        keyword = self.advance()
        opening = self.expect("(", f"after '{keyword.text}'")
        with self.nested():
            operand = self.type_name() if self.starts_type(self.token) else self.expression()
        self.close(opening)
        return operand

    def _alignas(self) -> syntax.Attribute:
        """``_Alignas(type)`` or ``_Alignas(constant)`` (C11 6.7.5), which is ``aligned`` as an attribute."""
        keyword = self.advance()
        opening = self.expect("(", f"after '{keyword.text}'")
        value: syntax.Expression
        if self.starts_type(self.token):
            value = syntax.SizeOf(self.location, self.type_name(), is_alignment=True)
        else:
            value = self.constant_expression()
        self.close(opening)
        return syntax.Attribute(keyword.location, "aligned", [value])

    def _qualifier(self, qualifiers: dict[str, SourceLocation]) -> None:
        """A type qualifier or address space; at most one address space."""
        word = self.token.text
        if word in keywords.QUALIFIERS:
            qualifiers.setdefault(keywords.QUALIFIERS[word], self.advance().location)
            return
        space = keywords.ADDRESS_SPACES[word]
        others = set(qualifiers) & set(keywords.ADDRESS_SPACES.values()) - {space}
        if others:
            self.report(messages.TWO_ADDRESS_SPACES)
            self.advance()
            return
        qualifiers.setdefault(space, self.advance().location)

    def _qualifiers(self, attributes: list[syntax.Attribute]) -> dict[str, SourceLocation]:
        """The qualifiers behind ``*`` or in ``[]``."""
        result: dict[str, SourceLocation] = {}
        while True:
            if self.at(*keywords.ATTRIBUTE_WORDS):
                attributes += self.attributes()
            elif self.token.kind is TokenKind.IDENTIFIER and (
                    self.token.text in keywords.QUALIFIERS or self.token.text in keywords.ADDRESS_SPACES):
                self._qualifier(result)
            else:
                return result

    def _storage_class(self, result: syntax.Specifiers) -> None:
        name = keywords.STORAGE_CLASSES[self.token.text]
        others = [other for other in result.storage if "inline" not in (name, other) and other != name]
        if name in result.storage:
            self.report(messages.DUPLICATE_SPECIFIER, name=name)
        elif others:
            self.report(messages.TWO_STORAGE_CLASSES, name=others[0])
        result.storage.setdefault(name, self.location)
        self.advance()

    # ------------------------------------------------------------------ attributes

    def attributes(self) -> list[syntax.Attribute]:
        """Any number of ``__attribute__((name, name(arguments), …))``."""
        result: list[syntax.Attribute] = []
        while self.at(*keywords.ATTRIBUTE_WORDS):
            self.advance()
            if not (self.at("(") and self.peek().text == "("):
                raise self.fail(messages.EXPECTED, what="'((' after '__attribute__'")
            outer, inner = self.advance(), self.advance()
            while not self.at(")") and not self.at_end:
                if not self.at(","):
                    result.append(self._attribute())
                if not self.at(")"):
                    self.expect(",", "between attributes")
            self.close(inner)
            self.close(outer)
        return result

    def _attribute(self) -> syntax.Attribute:
        if self.token.kind is not TokenKind.IDENTIFIER:
            raise self.fail(messages.BAD_ATTRIBUTE, what="its name")
        name = self.advance()
        spelled = name.text
        if len(spelled) > 4 and spelled.startswith("__") and spelled.endswith("__"):
            spelled = spelled[2:-2]
        attribute = syntax.Attribute(name.location, spelled)
        if self.at("("):
            opening = self.advance()
            while not self.at(")") and not self.at_end:
                self._attribute_argument(attribute)
                if not self.at(")"):
                    self.expect(",", "between an attribute's arguments")
            self.close(opening)
        return attribute

    def _attribute_argument(self, attribute: syntax.Attribute) -> None:
        """One argument; that of vec_type_hint is a type."""
        if self.starts_type(self.token):
            attribute.types.append(self.type_name())
        else:
            attribute.arguments.append(self.assignment_expression())

    # ------------------------------------------------------------------ structures and enumerations

    def record_specifier(self) -> syntax.RecordSpecifier:
        """``struct`` or ``union`` (C99 6.7.2.1)."""
        keyword = self.advance()
        attributes = self.attributes()
        tag_token = self._tag()
        members: list[syntax.Declaration | syntax.StaticAssert] | None = None
        pack = self.pack
        if self.at("{"):
            members = self._members()
        elif tag_token is None:
            raise self.fail(messages.EXPECTED, what=f"identifier or '{{' after '{keyword.text}'")
        if members is not None:
            attributes += self.attributes()
        place = tag_token or keyword
        return syntax.RecordSpecifier(place.location, keyword.text == "union",
                                      tag_token.text if tag_token else None, members, attributes, pack)

    def _tag(self) -> Token | None:
        if self.token.kind is TokenKind.IDENTIFIER and self.token.text not in keywords.KEYWORDS:
            return self.advance()
        return None

    def _members(self) -> list[syntax.Declaration | syntax.StaticAssert]:
        opening = self.advance()
        members: list[syntax.Declaration | syntax.StaticAssert] = []
        with self.nested():
            while not self.at("}") and not self.at_end:
                if self.accept(";") or self._skip_pragma():
                    continue
                try:
                    members.append(self.static_assert() if self.at("_Static_assert") else self._member())
                except SyntaxFailure:
                    self.recover()
        self.close(opening)
        return members

    def _skip_pragma(self) -> bool:
        if self.token.kind is not TokenKind.PRAGMA:
            return False
        self.report(messages.MISPLACED_PRAGMA)
        self.advance()
        return True

    def _member(self) -> syntax.Declaration:
        """One declaration in a structure; it may lack names (an anonymous structure)."""
        location = self.location
        specifiers = self.specifiers()
        declarators: list[syntax.InitDeclarator] = []
        while not self.at(";"):
            declarators.append(self._member_declarator())
            if not self.accept(","):
                break
        if self.at("}"):
            self.report(messages.MISSING_MEMBER_SEMICOLON, self.after_previous())
        else:
            self.expect_semicolon("at end of declaration list")
        return syntax.Declaration(location, specifiers, declarators)

    def _member_declarator(self) -> syntax.InitDeclarator:
        location = self.location
        attributes = self.attributes()
        declarator: syntax.Declarator
        if self.at(":"):
            declarator = syntax.NameDeclarator(location, None)
        else:
            declarator = self.declarator(attributes)
        width = self.constant_expression() if self.accept(":") else None
        attributes += self.attributes()
        return syntax.InitDeclarator(location, declarator, attributes, None, width)

    def enum_specifier(self) -> syntax.EnumSpecifier:
        """``enum`` (C99 6.7.2.2)."""
        keyword = self.advance()
        attributes = self.attributes()
        tag_token = self._tag()
        place = (tag_token or keyword).location
        tag = tag_token.text if tag_token else None
        if not self.at("{"):
            if tag is None:
                raise self.fail(messages.EXPECTED, what="identifier or '{' after 'enum'")
            return syntax.EnumSpecifier(place, tag, None, attributes)
        opening = self.advance()
        enumerators: list[syntax.Enumerator] = []
        try:
            while not self.at("}") and not self.at_end:
                enumerators.append(self._enumerator())
                if not self.accept(","):
                    break
            self.close(opening)
        except SyntaxFailure:
            self.skip_list()
        attributes += self.attributes()
        return syntax.EnumSpecifier(place, tag, enumerators, attributes)

    def _enumerator(self) -> syntax.Enumerator:
        if self.token.kind is not TokenKind.IDENTIFIER or self.token.text in keywords.KEYWORDS:
            raise self.fail(messages.EXPECTED_IDENTIFIER)
        name = self.advance()
        self.attributes()
        value = self.constant_expression() if self.accept("=") else None
        self.declare(name.text, is_type=False)
        return syntax.Enumerator(name.location, name.text, value)

    # ------------------------------------------------------------------ declarators

    def declarator(self, attributes: list[syntax.Attribute], abstract: bool | None = False) -> syntax.Declarator:
        """A declarator (C99 6.7.5): with a name, without (``abstract``), or either (None, a parameter's).

        Attributes found in front of the name are appended to ``attributes``.
        """
        with self.nested():
            if not self.at("*"):
                return self._direct_declarator(attributes, abstract)
            star = self.advance()
            qualifiers = self._qualifiers(attributes)
            inner = self.declarator(attributes, abstract)
            return syntax.PointerDeclarator(star.location, inner, qualifiers)

    def _direct_declarator(self, attributes: list[syntax.Attribute], abstract: bool | None) -> syntax.Declarator:
        if self.at(*keywords.ATTRIBUTE_WORDS):
            attributes += self.attributes()
        result: syntax.Declarator
        if self._at_name() and abstract is not True:
            name = self.advance()
            result = syntax.NameDeclarator(name.location, name.text)
        elif self.at("(") and not (abstract is not False and self._is_parameter_list()):
            opening = self.advance()
            attributes += self.attributes()
            result = self.declarator(attributes, abstract)
            self.close(opening)
        elif abstract is not False:
            result = syntax.NameDeclarator(self.location, None)
        elif self.at("::"):
            raise self.fail(messages.CPLUSPLUS, word="::")
        else:
            raise self.fail(messages.EXPECTED_DECLARATOR)
        return self._declarator_suffixes(result)

    def _at_name(self) -> bool:
        return self.token.kind is TokenKind.IDENTIFIER and self.token.text not in keywords.KEYWORDS

    def _is_parameter_list(self) -> bool:
        """Whether ``(`` in an abstract declarator begins parameters rather than a declarator."""
        following = self.peek()
        return following.text == ")" or (self.starts_type(following)
                                         and following.text not in keywords.ATTRIBUTE_WORDS)

    def _declarator_suffixes(self, inner: syntax.Declarator) -> syntax.Declarator:
        """Array sizes and parameter lists behind a name."""
        count = 0
        while True:
            count += 1
            if count > MAX_NESTING and self.at("[", "("):
                raise self.fail(messages.TOO_DEEP, limit=MAX_NESTING)
            if self.at("["):
                opening = self.advance()
                qualifiers = self._qualifiers([])
                self.accept("static")
                qualifiers |= self._qualifiers([])
                size = None if self.at("]") else self.assignment_expression()
                self.close(opening)
                inner = syntax.ArrayDeclarator(opening.location, inner, size, qualifiers)
            elif self.at("("):
                inner = self._parameters(inner)
            else:
                return inner

    def _parameters(self, inner: syntax.Declarator) -> syntax.FunctionDeclarator:
        """A parameter list (C99 6.7.5.3)."""
        opening = self.advance()
        if self.at(")"):
            self.advance()
            return syntax.FunctionDeclarator(opening.location, inner, [], has_prototype=False)
        if self.at("void") and self.peek().text == ")":
            self.advance()
            self.advance()
            return syntax.FunctionDeclarator(opening.location, inner, [])
        parameters: list[syntax.Parameter] = []
        variadic = False
        with self.type_scope():
            while True:
                if self.at("..."):
                    self.advance()
                    variadic = True
                    break
                parameters.append(self._parameter())
                if not self.accept(","):
                    break
        self.close(opening)
        return syntax.FunctionDeclarator(opening.location, inner, parameters, True, variadic)

    def _parameter(self) -> syntax.Parameter:
        location = self.location
        if self.token.kind is not TokenKind.IDENTIFIER:
            raise self.fail(messages.EXPECTED_PARAMETER)
        if self._at_name() and self._is_misspelt_specifier():
            self._report_misspelt_specifier()
        if self._at_name() and not self.starts_type(self.token) and self.token.text not in _DECLARATION_WORDS:
            specifiers = syntax.Specifiers(location, named=self.advance().text)
            self._later_qualifiers(specifiers)
        else:
            specifiers = self.specifiers()
        attributes: list[syntax.Attribute] = []
        declarator = self.declarator(attributes, abstract=None)
        attributes += self.attributes()
        self.declare(declared_name(declarator), is_type=False)
        return syntax.Parameter(location, specifiers, declarator, attributes)

    def _later_qualifiers(self, specifiers: syntax.Specifiers) -> None:
        """The qualifiers behind a type whose name is unknown."""
        specifiers.qualifiers |= self._qualifiers(specifiers.attributes)

    # ------------------------------------------------------------------ type names

    def type_name(self) -> syntax.TypeName:
        """A type in a cast, sizeof or compound literal (C99 6.7.6)."""
        location = self.location
        with self.nested():
            specifiers = self.specifiers()
            declarator = self.declarator(specifiers.attributes, abstract=True)
        return syntax.TypeName(location, specifiers, declarator)

    # ------------------------------------------------------------------ initialisers

    def initializer(self) -> syntax.Expression:
        """What stands behind ``=`` in a declaration (C99 6.7.8)."""
        return self.initializer_list() if self.at("{") else self.assignment_expression()

    def initializer_list(self) -> syntax.InitializerList:
        """``{ item, … }``, with designators and a trailing comma."""
        opening = self.advance()
        items: list[syntax.InitializerItem] = []
        try:
            with self.nested():
                while not self.at("}") and not self.at_end:
                    items.append(self._initializer_item())
                    if not self.accept(","):
                        break
            self.close(opening)
        except SyntaxFailure:
            self.skip_list()
            raise
        return syntax.InitializerList(opening.location, items, end=self.previous.location)

    def _initializer_item(self) -> syntax.InitializerItem:
        """An item with its designators; GNU's old ``name: value`` means ``.name = value``."""
        location = self.location
        if self.token.kind is TokenKind.IDENTIFIER and self.peek().text == ":":
            self.report(messages.OLD_DESIGNATOR)
            name = self.advance()
            self.advance()
            return syntax.InitializerItem(location, [syntax.Designator(name.location, None, name.text)],
                                          self.initializer())
        designators = self._designators()
        if designators:
            self.expect("=", "after the designator")
        return syntax.InitializerItem(location, designators, self.initializer())

    def _designators(self) -> list[syntax.Designator]:
        """``.name`` and ``[index]`` in any number."""
        designators: list[syntax.Designator] = []
        while self.at("[", "."):
            place = self.advance()
            if place.text == ".":
                if self.token.kind is not TokenKind.IDENTIFIER:
                    raise self.fail(messages.EXPECTED_IDENTIFIER)
                name = self.advance()
                designators.append(syntax.Designator(name.location, None, name.text))
                continue
            index = self.constant_expression()
            last = self.constant_expression() if self.accept("...") else None
            self.close(place)
            designators.append(syntax.Designator(index.location, index, None, last))
        return designators

    def member_path(self) -> syntax.MemberPath:
        """``member.inner[index]`` in ``__builtin_offsetof``."""
        location = self.location
        if self.token.kind is not TokenKind.IDENTIFIER:
            raise self.fail(messages.EXPECTED_IDENTIFIER)
        name = self.advance()
        return syntax.MemberPath(location, [syntax.Designator(name.location, None, name.text), *self._designators()])

    # ------------------------------------------------------------------ declarations

    def init_declarators(self, specifiers: syntax.Specifiers, first: syntax.Declarator,
                         attributes: list[syntax.Attribute]) -> list[syntax.InitDeclarator]:
        """The declarators of a declaration, the first of which is parsed already."""
        result = [self._init_declarator(specifiers, first, attributes)]
        while self.accept(","):
            own = self.attributes()
            result.append(self._init_declarator(specifiers, self.declarator(own), own))
        return result

    def _init_declarator(self, specifiers: syntax.Specifiers, declarator: syntax.Declarator,
                         attributes: list[syntax.Attribute]) -> syntax.InitDeclarator:
        attributes = attributes + self.attributes()
        self.declare(declared_name(declarator), is_type="typedef" in specifiers.storage)
        initializer = self.initializer() if self.accept("=") else None
        return syntax.InitDeclarator(name_location(declarator), declarator, attributes, initializer)


# ------------------------------------------------------------------ questions about declarators


def name_declarator(declarator: syntax.Declarator) -> syntax.NameDeclarator:
    """The innermost declarator, which holds the name."""
    while not isinstance(declarator, syntax.NameDeclarator):
        assert isinstance(declarator, (syntax.PointerDeclarator, syntax.ArrayDeclarator, syntax.FunctionDeclarator))
        declarator = declarator.inner
    return declarator


def declared_name(declarator: syntax.Declarator) -> str | None:
    """The name that is declared, if there is one."""
    return name_declarator(declarator).name


def name_location(declarator: syntax.Declarator) -> SourceLocation:
    """Where the declared name stands."""
    return name_declarator(declarator).location


def function_declarator(declarator: syntax.Declarator) -> syntax.FunctionDeclarator | None:
    """The parameter list if a function is declared: the declarator right around the name."""
    innermost: syntax.Declarator | None = None
    while not isinstance(declarator, syntax.NameDeclarator):
        assert isinstance(declarator, (syntax.PointerDeclarator, syntax.ArrayDeclarator, syntax.FunctionDeclarator))
        innermost = declarator
        declarator = declarator.inner
    return innermost if isinstance(innermost, syntax.FunctionDeclarator) else None
