"""Messages of the parser (CM2xxx). The wording follows clang's where clang has the message."""

from __future__ import annotations

from coopmat.diagnostics import Message

EXPECTED = Message("CM2001", "error", "expected {what}")
EXPECTED_EXPRESSION = Message("CM2002", "error", "expected expression")
EXPECTED_STATEMENT = Message("CM2003", "error", "expected statement")
EXPECTED_IDENTIFIER = Message("CM2004", "error", "expected identifier")
EXPECTED_DECLARATOR = Message("CM2005", "error", "expected identifier or '('")
EXPECTED_PARAMETER = Message("CM2006", "error", "expected parameter declarator")
UNEXPECTED_TYPE_NAME = Message("CM2008", "error", "unexpected type name '{name}': expected expression")
MISSING_TYPE = Message("CM2009", "error",
                       "type specifier missing; OpenCL C does not support implicit int")
EXTRANEOUS_BRACE = Message("CM2010", "error", "extraneous closing brace ('}}')")
TOO_DEEP = Message("CM2011", "error", "nesting is too deep; at most {limit} levels are supported")
SIZEOF_NEEDS_PARENTHESES = Message("CM2012", "error",
                                   "expected parentheses around type name in {operator} expression")
TWO_TYPES = Message("CM2013", "error", "cannot combine '{second}' with the type specifier '{first}' before it")
VECTOR_LITERAL_SUFFIX = Message("CM2014", "error",
                                "a vector literal needs parentheses around it before '{suffix}': "
                                "'((type)(...)){suffix}'")
DECLARATION_NOT_ALLOWED = Message("CM2015", "error",
                                  "a declaration is no statement; put it into braces")
DUPLICATE_SPECIFIER = Message("CM2016", "warning", "duplicate '{name}' declaration specifier",
                              "duplicate-decl-specifier")
TWO_ADDRESS_SPACES = Message("CM2017", "error", "multiple address spaces specified for type")
TWO_STORAGE_CLASSES = Message("CM2018", "error", "cannot combine with previous '{name}' declaration specifier")
ELSE_WITHOUT_IF = Message("CM2019", "error", "'else' without a previous 'if'")
FUNCTION_IN_FUNCTION = Message("CM2020", "error", "function definition is not allowed here")
BAD_ATTRIBUTE = Message("CM2022", "error", "malformed attribute: expected {what}")

UNSUPPORTED = Message("CM2030", "error", "{what} not supported in OpenCL C")
CPLUSPLUS = Message("CM2031", "error", "'{word}' belongs to C++; kernels are written in OpenCL C")

MISSING_MEMBER_SEMICOLON = Message("CM2023", "warning", "expected ';' at end of declaration list", "pedantic")

OLD_DEFINITION = Message("CM2050", "warning",
                         "a function definition without a prototype is deprecated; write the types of the parameters "
                         "into the parameter list", "deprecated-non-prototype")

OLD_DESIGNATOR = Message("CM2051", "warning", "use of GNU old-style field designator extension", "gnu-designator")

MISPLACED_PRAGMA = Message("CM2040", "warning", "pragma in the middle of a statement is ignored", "ignored-pragmas")
UNROLL_WITHOUT_LOOP = Message("CM2041", "error", "expected a for, while, or do-while loop to follow '#pragma {name}'")
