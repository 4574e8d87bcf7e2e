"""The message tables of the OpenCL C front end, one module per stage, one row per message.

Codes: ``CM10xx`` lexer and literals, ``CM11xx`` preprocessor (:mod:`.lexical`), ``CM2xxx`` parser,
``CM3xxx`` semantic analysis, ``CM4xxx`` cooperative matrix rules. A code is never used twice.
"""
