"""What the semantic analysis says about wrong programs, with line, column and code; where clang has the
message, in its words."""

from __future__ import annotations

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import CompileError, DiagnosticSink, Message, SourceFile, SourceLocation
from coopmat.diagnostics.rendering import Marks, snippet
from coopmat.opencl import compile_source, sema
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import parser
from tests.kit.opencl.dump import parse_text
from tests.kit.opencl.reports import diagnostics, reports

REPORTS: list[tuple[str, str | tuple[str, ...]]] = [
    ("void f(int4 v) { int i = v; }",
     "1:26: error: initializing 'int' with an expression of incompatible type 'int4' [CM3001]"),
    ("void f(int i) { __global int *p = i; }",
     "1:35: error: incompatible integer to pointer conversion initializing '__global int *' with an "
     "expression of type 'int' [CM3002]"),
    ("void f(__global int *p) { int i = p; }",
     "1:35: error: incompatible pointer to integer conversion initializing 'int' with an expression "
     "of type '__global int *' [CM3003]"),
    ("void f(__global int *p, __global float *q) { p = q; }",
     "1:48: warning: incompatible pointer types assigning '__global float *' to '__global int *' [CM3004]"),
    ("void f(__global int *p, __local int *q) { p = q; }",
     "1:45: error: assigning '__local int *' to '__global int *' changes address space of pointer [CM3005]"),
    ("void f(__constant int *p) { int *q = p; }",
     "1:38: error: initializing '__generic int *' with an expression of type '__constant int *' "
     "changes address space of pointer [CM3005]"),
    ("void g(int *p); void f(__global int *p, __constant int *q) { g(q); }", (
        "1:64: error: passing '__constant int *' to parameter of type '__generic int *' changes "
        "address space of pointer [CM3005]",
        "1:13: note: passing argument to parameter 'p' here",
    )),
    ("void g(int a[4]) { } void f(int *p) { g(p); }", (
        "1:41: error: passing '__generic int *' to parameter of type '__private int *' changes address space of "
        "pointer [CM3005]",
        "1:12: note: passing argument to parameter 'a' here",
    )),
    ("void f(__global int *p, const __global int *q) { p = q; }",
     "1:52: warning: assigning '__global const int *' to '__global int *' discards qualifiers [CM3006]"),
    ("void f(__global int *p, __global uint *q) { p = q; }",
     "1:47: warning: assigning '__global uint *' to '__global int *' converts between pointers to "
     "integer types with different sign [CM3007]"),
    ("void f(void) { int i = 3.7; }",
     "1:24: warning: implicit conversion from 'double' to 'int' changes value from 3.7 to 3 [CM3008]"),
    ("void f(void) { int i = 3e10f; }",
     "1:24: warning: implicit conversion of out of range value 3e+10 from 'float' to 'int' is undefined [CM3009]"),
    ("void f(void) { char c = 300; }",
     "1:25: warning: implicit conversion from 'int' to 'char' changes value from 300 to 44 [CM3010]"),
    ("void f(void) { float x = 16777217; }",
     "1:26: warning: implicit conversion from 'int' to 'float' changes value from 16777217 to 16777216 [CM3019]"),
    ("void f(float4 v) { if (v) ; }",
     "1:24: error: statement requires expression of scalar type ('float4' invalid) [CM3012]"),
    ("void f(__local int *p) { (__global int *)p; }",
     "1:26: error: casting '__local int *' to type '__global int *' changes address space of pointer [CM3013]"),
    ("void f(float4 v) { (int4)v; }",
     "1:20: error: invalid conversion between ext-vector type 'int4' and 'float4'; convert_int4() "
     "converts the components, as_int4() keeps the bits [CM3014]"),
    ("void f(float4 v) { (int)v; }",
     "1:20: error: invalid conversion between vector type 'float4' and scalar type 'int' [CM3015]"),
    ("struct S { int a; }; void f(struct S s) { (int)s; }",
     "1:48: error: operand of type 'struct S' where arithmetic or pointer type is required [CM3016]"),
    ("struct S { int a; }; void f(int i) { (struct S)i; }",
     "1:38: error: used type 'struct S' where arithmetic or pointer type is required [CM3017]"),
    ("void f(__global int *p) { (float)p; }",
     "1:27: error: cannot cast from type '__global int *' to 'float' [CM3018]"),
    ("int f(int i) { return i; } void g(float4 v) { f(v); }", (
        "1:49: error: passing 'float4' to parameter of incompatible type 'int' [CM3001]",
        "1:11: note: passing argument to parameter 'i' here",
    )),
    ("int f(int i) { float4 v; return v; }",
     "1:33: error: returning 'float4' from a function with incompatible result type 'int' [CM3001]"),
    ("struct S { int a; }; void f(struct S s, int i) { s = i; }",
     "1:52: error: assigning to 'struct S' from incompatible type 'int' [CM3001]"),
    ("void f(void) { abc = 1; }", "1:16: error: use of undeclared identifier 'abc' [CM3101]"),
    ("void f(void) { int f; f = 1; g = 2; }", "1:30: error: use of undeclared identifier 'g' [CM3101]"),
    ("void f(int count) { coutn = 1; }",
     ("1:21: error: use of undeclared identifier 'coutn'; did you mean 'count'? [CM3101]",
      "1:12: note: 'count' declared here")),
    ("void f(void) { get_globl_id(0); }",
     "1:16: error: call to undeclared function 'get_globl_id'; did you mean 'get_global_id'? [CM3102]"),
    ("void f(void) { nothing(); }", "1:16: error: call to undeclared function 'nothing' [CM3102]"),
    ("flaot x;", "1:1: error: unknown type name 'flaot'; did you mean 'float'? [CM3103]"),
    ("void f(void) { foo x; }", "1:16: error: unknown type name 'foo' [CM3103]"),
    ("void f(void) { f + 1; }",
     "1:16: error: function 'f' can only be called; OpenCL C has no function pointers [CM3104]"),
    ("void f(void) { int i = get_global_id; }",
     "1:24: error: function 'get_global_id' can only be called; OpenCL C has no function pointers [CM3104]"),
    ("void f(void) { int i = sizeof(f); }",
     "1:31: error: function 'f' can only be called; OpenCL C has no function pointers [CM3104]"),
    ("void f(int i) { i(1); }", "1:17: error: called object type 'int' is not a function [CM3106]"),
    ("void f(int i) { (i + 1)(2); }",
     "1:20: error: called object is not a function; expected a function's name [CM3107]"),
    ("void f(int i, int j) { } void g(void) { f(1); }", (
        "1:44: error: too few arguments to function call, expected 2, have 1 [CM3108]",
        "1:6: note: 'f' declared here",
    )),
    ("void f(int i) { } void g(void) { f(1, 2 + 3); }", (
        "1:39: error: too many arguments to function call, expected 1, have 2 [CM3109]",
        "1:6: note: 'f' declared here",
    )),
    ("int f(int); void g(void) { f(1); }", (
        "1:28: error: function 'f' is called but has no definition [CM3110]",
        "1:5: note: 'f' declared here",
    )),
    ("void f(int n) { if (n) f(n - 1); }",
     "1:24: error: recursive call of 'f'; recursion is not supported in OpenCL C [CM3111]"),
    ("void f(int n); void g(int n) { f(n); } void h(int n) { g(n); } void f(int n) { h(n); }",
     "1:56: error: indirect recursion ('g' -> 'f' -> 'h' -> 'g'); recursion is not supported in OpenCL C [CM3112]"),
    ("void f(void) { goto end; }", "1:21: error: use of undeclared label 'end' [CM3113]"),
    ("void f(void) { convert_int(1, 2); }", "1:16: error: 'convert_int' takes 1 argument, have 2 [CM3114]"),
    ("void f(float4 v) { convert_int2(v); }",
     "1:20: error: cannot convert 'float4' to 'int2': expected a scalar or vector with as many components [CM3115]"),
    ("void f(float4 v) { as_int(v); }",
     "1:20: error: invalid reinterpretation: sizes of 'int' and 'float4' must match [CM3116]"),
    ("void f(bool b) { as_char(b); }",
     "1:18: error: invalid reinterpretation: sizes of 'char' and 'bool' must match [CM3116]"),
    ("void f(__global int *p) { p * 2; }",
     "1:29: error: invalid operands to binary expression ('__global int *' and 'int') [CM3201]"),
    ("void f(float x) { x % 2; }",
     "1:21: error: invalid operands to binary expression ('float' and 'int') [CM3201]"),
    ("void f(float x) { ~x; }", "1:19: error: invalid argument type 'float' to unary expression [CM3202]"),
    ("struct S { int a; }; void f(struct S s) { !s; }",
     "1:43: error: invalid argument type 'struct S' to unary expression [CM3202]"),
    ("void f(int4 a, float4 b) { a + b; }",
     "1:30: error: implicit conversions between vector types ('int4' and 'float4') are not permitted [CM3203]"),
    ("void f(char4 v) { v + 1; }",
     "1:21: error: scalar operand type has greater rank than the type of the vector element ('char4' "
     "and 'int') [CM3204]"),
    ("void f(int4 v) { 1 << v; }",
     "1:20: error: requested shift is a vector of type 'int4' but the first operand is not a vector "
     "('int') [CM3205]"),
    ("void f(int i) { i << 33; }",
     "1:19: warning: shift count 33 is not less than the width of type 'int' (32 bits); OpenCL C "
     "shifts by 1 [CM3206]"),
    ("void f(int i) { i / 0; i % 0; }", (
        "1:19: warning: division by zero is undefined [CM3207]",
        "1:26: warning: remainder by zero is undefined [CM3207]",
    )),
    ("struct S { int a; }; void f(struct S s) { s ? 1 : 2; }",
     "1:43: error: used type 'struct S' where arithmetic or pointer type is required [CM3208]"),
    ("struct S { int a; }; void f(struct S s) { 1 ? s : 2; }",
     "1:45: error: incompatible operand types ('struct S' and 'int') [CM3209]"),
    ("void f(float4 v) { v ? v : v; }",
     "1:22: error: vector condition of type 'float4'; expected a vector of integers [CM3210]"),
    ("void f(char4 c, float4 v) { c ? v : v; }",
     "1:31: error: vector condition type 'char4' and result type 'float4' do not have the same "
     "number of elements of the same size [CM3211]"),
    ("void f(float x) { x ? 1 : 2; }",
     "1:19: error: used type 'float' where floating point type is not allowed; compare it with 0 [CM3245]"),
    ("void f(int b, __global int *p, __global float *q) { b ? p : q; }",
     "1:55: warning: pointer type mismatch ('__global int *' and '__global float *') [CM3246]"),
    ("void f(int i) { *i; }", "1:17: error: indirection requires pointer operand ('int' invalid) [CM3212]"),
    ("void f(__global void *p) { *p; }",
     "1:28: error: a pointer to 'void' cannot be dereferenced; cast it to what it points to [CM3213]"),
    ("void f(__global void *p) { p + 1; }", "1:30: error: arithmetic on a pointer to void [CM3214]"),
    ("struct S; void f(__global struct S *p) { p + 1; }",
     "1:44: error: arithmetic on a pointer to an incomplete type 'struct S' [CM3215]"),
    ("struct S; void f(__global struct S *p) { p->a; }",
     "1:45: error: incomplete type 'struct S' where a complete type is required [CM3216]"),
    ("void f(int i) { &(i + 1); }", "1:17: error: cannot take the address of an rvalue of type 'int' [CM3217]"),
    ("void f(float4 v) { &v.x; }", "1:20: error: address of vector element requested [CM3218]"),
    ("void f(__global int *p, __global float *q) { p - q; }",
     "1:48: error: '__global int *' and '__global float *' are not pointers to compatible types [CM3219]"),
    ("void f(__global int *p) { p == 1; }",
     "1:29: warning: comparison between pointer and integer ('__global int *' and 'int') [CM3220]"),
    ("void f(__global int *p, __global float *q) { p == q; }",
     "1:48: warning: comparison of distinct pointer types ('__global int *' and '__global float *') [CM3221]"),
    ("void f(__global int *p, __local int *q) { p == q; }",
     "1:45: error: '__global int *' and '__local int *' are pointers to non-overlapping address spaces [CM3222]"),
    ("void f(int i) { i + 1 = 2; }", "1:23: error: expression is not assignable [CM3223]"),
    ("void f(float4 v) { v.xx = 1; }",
     "1:25: error: vector is not assignable (contains duplicate components) [CM3224]"),
    ("void f(void) { int a[2]; a = 0; }", "1:28: error: array type 'int[2]' is not assignable [CM3225]"),
    ("void f(int i) { (char)i = 1; }",
     "1:17: error: assignment to cast is illegal, lvalue casts are not supported [CM3226]"),
    ("void f(void) { const int i = 1; i = 2; }", (
        "1:35: error: cannot assign to variable 'i' with const-qualified type 'const int' [CM3227]",
        "1:26: note: variable 'i' declared const here",
    )),
    ("void f(const __global int *p) { *p = 1; }", "1:36: error: read-only variable is not assignable [CM3228]"),
    ("void f(__constant int *p) { p[1]++; }", "1:33: error: read-only variable is not assignable [CM3228]"),
    ("struct S { int a; }; void f(struct S s) { s++; }",
     "1:44: error: cannot increment value of type 'struct S' [CM3229]"),
    ("void f(float4 v) { --v; }", "1:20: error: cannot decrement value of type 'float4' [CM3229]"),
    ("void f(int i) { i[1]; }", "1:18: error: subscripted value is not an array, pointer, or vector [CM3230]"),
    ("void f(__global int *p) { p[1.5]; }", "1:29: error: array subscript is not an integer [CM3231]"),
    ("void f(void) { int a[2]; a[2] = 1; a[-1] = 2; }", (
        "1:28: warning: index 2 is past the end of 'int[2]' [CM3232]",
        "1:38: warning: index -1 is before the beginning of 'int[2]' [CM3233]",
        "1:20: note: array 'a' declared here", "1:20: note: array 'a' declared here",
    )),
    ("struct S { int a; }; void f(struct S s) { s->a; }",
     "1:46: error: member reference type 'struct S' is not a pointer; did you mean to use '.'? [CM3234]"),
    ("struct S { int a; }; void f(__global struct S *s) { s.a; }",
     "1:55: error: member reference type '__global struct S *' is a pointer; did you mean to use '->'? [CM3235]"),
    ("void f(int i) { i.x; }",
     "1:19: error: member reference base type 'int' is not a structure or union [CM3236]"),
    ("struct S { int alpha; }; void f(struct S s) { s.alhpa; }",
     "1:49: error: no member named 'alhpa' in 'struct S'; did you mean 'alpha'? [CM3237]"),
    ("void f(float4 v) { v.q; }", "1:22: error: illegal vector component name 'q' of 'float4' [CM3238]"),
    ("void f(float2 v) { v.z; }", "1:22: error: vector component access 'z' exceeds type 'float2' [CM3239]"),
    ("void f(float8 v) { v.s01234; }",
     "1:22: error: 5 vector components selected; expected 1, 2, 3, 4, 8 or 16 [CM3240]"),
    ("void f(void) { sizeof(void); }", "1:16: error: invalid application of 'sizeof' to 'void' [CM3241]"),
    ("int float a;", "1:1: error: 'int float' is no type [CM3301]"),
    ("void f(void) { long long a; }",
     "1:16: warning: 'long long' is reserved in OpenCL C; here it is 'long', which has 64 bits [CM3302]"),
    ("typedef __global int T; void f(__local T *p) { }",
     "1:32: error: multiple address spaces specified for type [CM3305]"),
    ("void f(restrict int i) { }", "1:8: error: restrict requires a pointer ('int' is invalid) [CM3306]"),
    ("void f(int (*p)(int)) { }", "1:13: error: pointers to functions are not allowed [CM3307]"),
    ("void f(void) { sizeof(int(int)); }", "1:26: error: a function cannot be declared here [CM3308]"),
    ("struct S; void f(void) { struct S a[2]; }",
     "1:36: error: array has incomplete element type 'struct S' [CM3309]"),
    ("void f(void) { int a[1.5]; }", "1:22: error: size of array has non-integer type 'double' [CM3310]"),
    ("void f(int n) { int a[n]; }", "1:23: error: variable length arrays are not supported in OpenCL [CM3311]"),
    ("void f(void) { int a[-1]; }", "1:22: error: array size must not be negative, is -1 [CM3312]"),
    ("void f(void) { int a[1 << 30]; }", "1:24: error: array is too large (1073741824 elements) [CM3313]"),
    ("struct S { int a[100000000]; int b[100000000]; int c[400000000]; };",
     "1:8: error: type 'struct S' is too large [CM3314]"),
    ("struct S { int a[500000000]; int b[500000000]; };", "1:8: error: type 'struct S' is too large [CM3314]"),
    ("void f(void) { int a[]; }",
     "1:20: error: definition of 'a' with array type needs an explicit size or an initializer [CM3315]"),
    ("void f(void) { int i; float i; }", (
        "1:29: error: redefinition of 'i' with a different type: 'float' vs 'int' [CM3959]",
        "1:20: note: previous definition is here",
    )),
    ("typedef int T; typedef float T;", (
        "1:30: error: typedef redefinition of 'T' with a different type [CM3317]",
        "1:13: note: previous definition is here",
    )),
    ("void f(int a, int a) { }", "1:19: error: redefinition of parameter 'a' [CM3318]"),
    ("int f(int); int f(float);", (
        "1:17: error: conflicting types for 'f' [CM3319]",
        "1:5: note: previous declaration is here",
    )),
    ("int f(void) { return 1; } int f(void) { return 2; }", (
        "1:31: error: redefinition of 'f' [CM3316]",
        "1:5: note: previous definition is here",
    )),
    ("struct S { int a; }; union S u;", (
        "1:28: error: use of 'S' with tag type that does not match previous declaration [CM3320]",
        "1:8: note: previous declaration is here",
    )),
    ("int;", "1:1: warning: declaration does not declare anything [CM3321]"),
    ("struct S { int a; int a; };", (
        "1:23: error: duplicate member 'a' [CM3322]",
        "1:16: note: previous declaration is here",
    )),
    ("struct S { int a : 3; };", "1:16: error: bit-fields are not supported in OpenCL [CM3323]"),
    ("struct S { int a(void); };", "1:16: error: field 'a' declared as a function [CM3324]"),
    ("struct S { void a; };", "1:17: error: field has incomplete type 'void' [CM3325]"),
    ("struct S { __global int a; };",
     "1:25: error: field may not be qualified with an address space (__global) [CM3326]"),
    ("struct S { int a; int b[]; int c; };",
     "1:24: error: flexible array member 'b' with type 'int[]' is not at the end of struct [CM3368]"),
    ("struct S { int a; int b[]; }; void f(void) { struct S s = { 1, { 2 } }; }",
     "1:64: error: initialization of flexible array member 'b' is not allowed [CM3370]"),
    ("typedef int A __attribute__((aligned(16))); void f(void) { A a[2]; }",
     "1:63: error: size of array element of type 'int' (4 bytes) isn't a multiple of its alignment (16 bytes) "
     "[CM3367]"),
    ("void f(enum E e) { }", "1:13: error: 'enum E' has not been defined [CM3328]"),
    ("enum E { };", "1:6: error: use of empty enum [CM3329]"),
    ("enum E { A = 0x7fffffff, B };", "1:26: warning: overflow in enumeration value [CM3366]"),
    ("enum E { A = 1.5 };", "1:14: error: expression is not an integer constant expression [CM3331]"),
    ("void f(void) { void v; }", "1:21: error: variable has incomplete type 'void' [CM3332]"),
    ("void f(void v) { }", "1:13: error: argument may not have 'void' type [CM3333]"),
    ("typedef int T = 1;", "1:13: error: illegal initializer (only variables can be initialized) [CM3334]"),
    ("__private int a = 1;",
     "1:15: error: program scope variable 'a' must reside in global or constant address space: declare it "
     "__global or __constant [CM3335]"),
    ("__constant int a;", "1:16: error: variable 'a' in constant address space must be initialized [CM3336]"),
    ("extern int a; int f(void) { return a; }", (
        "1:36: error: variable 'a' is declared 'extern' and used, but has no definition; a program is one translation "
        "unit [CM3371]",
        "1:12: note: previous declaration is here",
    )),
    ("extern int a; void f(void) { }", ()),
    ("void f(void) { static __local int a; }",
     "1:35: error: static local variable 'a' must reside in global or constant address space: declare it "
     "__global or __constant [CM3338]"),
    ("int a; float a;", (
        "1:14: error: redefinition of 'a' with a different type: 'float' vs 'int' [CM3959]",
        "1:5: note: previous definition is here",
    )),
    ("void f(void) { __global int a; }",
     "1:29: error: function scope variable cannot be declared in __global address space [CM3339]"),
    ("void f(void) { __local int a; }",
     "1:28: error: non-kernel function variable cannot be declared in __local address space [CM3340]"),
    ("__kernel void f(void) { { __local int a; } }",
     "1:39: error: variables in the __local address space can only be declared in the outermost "
     "scope of a kernel function [CM3341]"),
    ("__kernel void f(void) { __local int a = 1; }",
     "1:37: error: '__local' variable cannot have an initializer [CM3342]"),
    ("typedef int T(int) { return 1; }", "1:13: error: a function definition declared 'typedef' [CM3343]"),
    ("typedef int T(int); T *p;", "1:23: error: pointers to functions are not allowed [CM3307]"),
    ("void main(void) { }", "1:6: error: function cannot be called 'main' [CM3375]"),
    ("__kernel static void f(void) { }", "1:10: error: kernel functions cannot be declared static [CM3372]"),
    ("void f(void) { __auto_type a; }",
     "1:28: error: declaration of variable 'a' with deduced type '__auto_type' requires an initializer [CM3373]"),
    ("void f(__auto_type a) { }",
     "1:20: error: '__auto_type' is only allowed as the whole type of a variable [CM3374]"),
    ("__kernel void f(size_t n) { }",
     "1:24: error: 'size_t' cannot be used as the type of a kernel parameter: the device decides its size; take a "
     "ulong or a long [CM3376]"),
    ("typedef uintptr_t word; __kernel void f(word n) { }",
     "1:46: error: 'uintptr_t' cannot be used as the type of a kernel parameter: the device decides its size; take a "
     "ulong or a long [CM3376]"),
    ("struct S { int a; size_t n; }; struct T { struct S s[2]; }; __kernel void f(struct T t) { }",
     "1:86: error: 'struct T' cannot be used as the type of a kernel parameter: the device decides the size of its "
     "member 'n' [CM3377]"),
    ("int a = ({ 1; });", "1:9: error: statement expression not allowed at file scope [CM3360]"),
    ("void f(int i) { i = ({ x: 1; }); goto x; }", (
        "1:39: error: cannot jump from this goto into a statement expression [CM3361]",
        "1:24: note: label 'x' is in the statement expression",
    )),
    ("void f(int i) { switch (i) { case 1: ({ case 2: ; }); } }",
     "1:41: error: cannot jump from the switch around it into a statement expression [CM3361]"),
    ("void f(int i) { i = ({ goto x; 1; }); x: ; }", ()),
    ("__constant char *a = __func__;",
     "1:22: warning: predefined identifier is only valid inside function [CM3362]"),
    ("void f(int i) { i = _Generic(i, float: 1, long: 2); }",
     "1:30: error: controlling expression type 'int' not compatible with any generic association type [CM3363]"),
    ("void f(int i) { i = _Generic(i, int: 1, int: 2); }",
     "1:41: error: duplicate generic association for type 'int' [CM3364]"),
    ("void f(int i) { i = _Generic(i, default: 1, default: 2); }",
     "1:45: error: duplicate generic association for 'default' [CM3364]"),
    ("void f(int a, ...) { }",
     "1:7: error: invalid prototype, variadic arguments are not allowed in OpenCL [CM3344]"),
    ("int f(void)[2];", "1:5: error: function cannot return type 'int[2]' [CM3345]"),
    ("struct S; struct S f(void) { }",
     "1:20: error: incomplete result type 'struct S' in function definition [CM3355]"),
    ("__kernel int f(void) { return 1; }", "1:14: error: kernel must have void return type [CM3346]"),
    ("__kernel int a;", (
        "1:14: error: 'kernel' attribute only applies to functions [CM3347]",
    )),
    ("inline int a;", (
        "1:1: error: 'inline' can only appear on functions [CM3348]",
    )),
    ("void f(__local int a) { }",
     "1:20: error: parameter may not be qualified with an address space (__local) [CM3349]"),
    ("__kernel void f(int *p) { }",
     "1:22: error: pointer arguments to kernel functions must reside in '__global', '__constant' or "
     "'__local' address space [CM3350]"),
    ("__kernel void f(__global int **p) { }",
     "1:32: error: pointer arguments to kernel functions must reside in '__global', '__constant' or "
     "'__local' address space [CM3350]"),
    ("__kernel void f(bool b) { }",
     "1:22: error: 'bool' cannot be used as the type of a kernel parameter [CM3352]"),
    ("void f(void) { typedef int T; int T; T = 1; }", (
        "1:35: error: redefinition of 'T' [CM3316]",
        "1:28: note: previous definition is here",
    )),
    ("void f(void) { int T; typedef int T; T x; x = 1; }", (
        "1:35: error: redefinition of 'T' [CM3316]",
        "1:20: note: previous definition is here",
    )),
    ("void f(void) { const foo x; }", "1:22: error: unknown type name 'foo' [CM3103]"),
    ("void f(void) { float4 v = { { 1 }, 2, 3, 4 }; }",
     "1:29: error: expected expression, found an initializer list [CM3413]"),
    ("struct S { int a; __global int *p; }; __kernel void f(struct S s) { }",
     "1:64: error: 'struct S' cannot be used as the type of a kernel parameter: it holds '__global int *' [CM3353]"),
    ("int f(void) { return 1; } __constant int a = f();",
     "1:46: error: initializer element is not a compile-time constant [CM3401]"),
    ("constant int x = 3; constant int *constant p = __builtin_assume_aligned(&x, 4);",
     "1:48: error: initializer element is not a compile-time constant [CM3401]"),
    ("__constant int a = 1 / 0;", (
        "1:22: warning: division by zero is undefined [CM3207]",
        "1:22: error: initializer element is not a compile-time constant [CM3401]",
    )),
    ("void f(void) { int a[4] = { [3 ... 1] = 2 }; }",
     "1:30: error: array designator range [3, 1] is empty [CM3415]"),
    ("void f(void) { int a[4] = { [1 ... 4] = 2 }; }",
     "1:30: error: array designator index (4) exceeds array bounds (4) [CM3412]"),
    ("void f(void) { int a[1] = { 1, 2 }; }", "1:32: warning: excess elements in array initializer [CM3403]"),
    ("void f(void) { int a[2] = 1; }",
     "1:27: error: array initializer must be an initializer list or string literal [CM3404]"),
    ('void f(void) { char a[2] = "abc"; }',
     "1:28: warning: initializer-string for char array is too long, array size is 2 but initializer "
     "has size 3 (excluding the null terminator) [CM3405]"),
    ("void f(void) { (float4)(1, 2, 3); }",
     "1:16: error: too few elements in vector initialization of 'float4' (expected 4 elements, have 3) [CM3406]"),
    ("void f(void) { (float4)(1, 2, 3, 4, 5); }",
     "1:16: error: excess elements in vector initializer of 'float4' (expected 4 elements, have 5) [CM3407]"),
    ("void f(void) { int a = { .x = 1 }; }",
     "1:26: error: designator in initializer for scalar type 'int' [CM3408]"),
    ("void f(void) { int a[2] = { .x = 1 }; }",
     "1:30: error: field designator cannot initialize a non-struct, non-union type 'int[2]' [CM3410]"),
    ("struct S { int a; }; void f(void) { struct S s = { [0] = 1 }; }",
     "1:53: error: array designator cannot initialize non-array type 'struct S' [CM3411]"),
    ("void f(void) { int a[2] = { [2] = 1 }; }",
     "1:30: error: array designator index (2) exceeds array bounds (2) [CM3412]"),
    ("void f(void) { int a[2000000] = { 1 }; }",
     "1:33: error: an array of 2000000 elements cannot have an initializer; at most 65532 are supported [CM3414]"),
    (f'kernel void k(void) {{ constant char *p = "{"a" * 70000}"; }}',
     "1:42: error: a string literal of 70000 characters is too long; at most 65531 are supported [CM3419]"),
    ("int *f(void) { int a[3]; return a + 1; }",
     "1:33: warning: address of stack memory associated with local variable 'a' returned [CM3515]"),
    ("struct S { int a[2]; }; int *f(int *p, struct S s) { return p ? p : &s.a[1]; }",
     "1:61: warning: address of stack memory associated with parameter 's' returned [CM3515]"),
    ("int *f(void) { return (int[]){ 1 }; }",
     "1:23: warning: address of stack memory associated with a compound literal returned [CM3515]"),
    ("struct S { int a[2]; }; __constant int c = 1; int *f(int *p, struct S *s) { p++; return p ? p : s->a; }", ()),
    ("int a(void) { return 1; } " + "".join(f"int {'a' * (n + 1)}(void) {{ return {'a' * n}(); }}\n"
                                            for n in range(1, 101)),
     "100:122: error: calls are nested too deeply: at most 100 functions can be active at once, "
     f"'{'a' * 101}' included [CM3118]"),
    ("void f(void) { int a" + "[1]" * 60 + "; }", ()),
    ("void f(void) { int a" + "[1]" * 200 + "; }",
     "1:438: error: type is nested too deeply; at most 60 arrays, pointers and structures inside one another are "
     "supported [CM3356]"),
    ("struct S { int " + "*" * 70 + "p; };",
     "1:76: error: type is nested too deeply; at most 60 arrays, pointers and structures inside one another are "
     "supported [CM3356]"),
    ("abc\0def", (
        "1:1: error: unknown type name 'abc' [CM3103]",
        "1:4: error: unexpected character U+0000 [CM1003]",
        "1:8: error: expected ';' after top level declarator [CM2001]",
    )),
    ('void f(void) { __constant char *s = "abc;\n s = 0; }',
     '1:37: error: missing terminating " character before the end of the line [CM1004]'),
    ("#define F(x) x\nvoid g(int); void f(int i) { i = F('a);\n); i = 1 + 'x;\n }", (
        "2:36: error: missing terminating ' character before the end of the line [CM1004]",
        "3:12: error: missing terminating ' character before the end of the line [CM1004]",
    )),
    ("void f(void) { break; }", "1:16: error: 'break' statement not in loop or switch statement [CM3501]"),
    ("void f(void) { continue; }", "1:16: error: 'continue' statement not in loop statement [CM3502]"),
    ("void f(float x) { switch (x) { } }",
     "1:27: error: statement requires expression of integer type ('float' invalid) [CM3503]"),
    ("void f(void) { case 1: ; }", "1:16: error: 'case' statement not in switch statement [CM3504]"),
    ("void f(int i) { switch (i) { case 1: case 1: ; } }", (
        "1:43: error: duplicate case value '1' [CM3505]",
        "1:35: note: previous case defined here",
    )),
    ("void f(int i) { switch (i) { default: default: ; } }", (
        "1:39: error: multiple default labels in one switch [CM3506]",
        "1:30: note: previous case defined here",
    )),
    ("void f(int i) { switch (i) { case 3 ... 1: ; } }", "1:30: warning: empty case range specified [CM3507]"),
    ("void f(int i) { switch (i) { case 1 ... 100000: ; } }",
     "1:30: error: case range has more than 4096 values [CM3508]"),
    ("void f(int i) { switch (i) { case i: ; } }",
     "1:35: error: expression is not an integer constant expression [CM3331]"),
    ("int f(void) { return; }", "1:15: error: non-void function 'f' should return a value [CM3509]"),
    ("void f(void) { return 1; }", "1:16: error: void function 'f' should not return a value [CM3510]"),
    ("int f(int i) { if (i) return 1; }",
     "1:33: warning: non-void function 'f' does not return a value in all control paths [CM3511]"),
    ("void f(void) { a: a: ; }", (
        "1:19: error: redefinition of label 'a' [CM3512]",
        "1:16: note: previous declaration is here",
    )),
    ('_Static_assert(sizeof(int) == 8, "no");', "1:16: error: static assertion failed: no [CM3513]"),
    ('void f(int i) { _Static_assert(i, ""); }',
     "1:32: error: static assertion expression is not an integral constant expression [CM3514]"),
    ("__attribute__((alinged(4))) __constant int a = 1;",
     "1:16: warning: unknown attribute 'alinged' ignored; did you mean 'aligned'? [CM3601]"),
    ("void f(void) { __attribute__((packed)) int a; }",
     "1:31: warning: attribute 'packed' means nothing here and is ignored [CM3602]"),
    ("__attribute__((reqd_work_group_size(1, 1, 1))) void f(void) { }",
     "1:16: error: attribute 'reqd_work_group_size' can only be applied to an OpenCL kernel [CM3604]"),
    ("__kernel __attribute__((reqd_work_group_size(1, 1))) void f(void) { }",
     "1:25: error: 'reqd_work_group_size' attribute requires 3 arguments, have 2 [CM3605]"),
    ("__kernel __attribute__((reqd_work_group_size(0, 1, 1))) void f(void) { }",
     "1:46: error: 'reqd_work_group_size' attribute requires positive integer constants as arguments [CM3606]"),
    ("void f(void) { int a __attribute__((aligned(3))); }",
     "1:45: error: requested alignment is not a power of 2 up to 4096 [CM3607]"),
    ("typedef bool T __attribute__((ext_vector_type(4)));",
     "1:31: error: invalid vector of 'bool': expected an element type other than bool and a count of "
     "2, 3, 4, 8, 16 [CM3608]"),
    ("__attribute__((address_space(1))) int a;",
     "1:16: error: attribute 'address_space' is not supported, and without it the program would mean something else; "
     "write __global, __local, __constant or __private [CM3609]"),
    ("void f(int i) { __attribute__((opencl_unroll_hint)) i = 1; }",
     "1:32: error: 'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements [CM3610]"),
    ("void f(int i __attribute__((align_value(8)))) { }",
     "1:29: warning: 'align_value' attribute only applies to a pointer ('int' is invalid) [CM3611]"),
    ("void f(int *i __attribute__((__align_value__(3)))) { }",
     "1:46: error: requested alignment is not a power of 2 up to 4096 [CM3607]"),
    ("__attribute__((vec_type_hint(struct S))) __kernel void f(void) { }",
     "1:16: error: a type that is no number and no vector ('struct S') is an invalid argument to attribute "
     "'vec_type_hint' [CM3612]"),
    ("__attribute__((vec_type_hint(int))) void f(void) { }",
     "1:16: error: attribute 'vec_type_hint' can only be applied to an OpenCL kernel [CM3604]"),
    ("typedef float V __attribute__((vector_size(20)));",
     "1:32: error: invalid vector of 'float': expected an element type other than bool and a count of "
     "2, 3, 4, 8, 16 [CM3608]"),
    ("void f(void) { int a = { { 1 }, 2 }; }", "1:33: warning: excess elements in scalar initializer [CM3403]"),
]

ELSEWHERE = {messages.NEEDS_FP64, messages.NEEDS_FP16, messages.DOUBLE_LITERAL, messages.TYPE_NEEDS_FEATURE,
             messages.EXPRESSION_TOO_DEEP, messages.TOO_DEEP_FOR_PYTHON, messages.KERNEL_POINTER_TO_POINTER}
"""Messages that the tests below are about, those of builtins/matrices and of test_language_versions.py."""


@pytest.mark.parametrize(("source", "expected"), REPORTS)
def test_reports(source: str, expected: str | tuple[str, ...]) -> None:
    assert reports(source) == ([expected] if isinstance(expected, str) else list(expected))


def test_every_message_is_tested() -> None:
    rows = {row for row in vars(messages).values() if isinstance(row, Message)}
    tested = " ".join(text if isinstance(text, str) else " ".join(text) for _, text in REPORTS)
    untested = {row.code for row in rows if row.code not in tested}
    assert untested == {row.code for row in ELSEWHERE} | {messages.MATRIX_MISMATCH.code}


# ------------------------------------------------------------------ devices and features


@pytest.mark.parametrize(("source", "expected"), [
    ("void f(double x) { }",
     "1:8: error: use of type 'double' requires cl_khr_fp64 and __opencl_c_fp64 support [CM3303]"),
    ("void f(__global double4 *x) { }",
     "1:17: error: use of type 'double4' requires cl_khr_fp64 and __opencl_c_fp64 support [CM3303]"),
    ("void f(float x) { x = 2.0; }",
     "1:23: warning: double precision constant requires cl_khr_fp64, casting to single precision [CM3242]"),
    ("void f(float x) { convert_double(x); }",
     "1:19: error: use of 'convert_double' requires cl_khr_fp64 support [CM3117]"),
    ("void f(long x) { as_double(x); }", "1:18: error: use of 'as_double' requires cl_khr_fp64 support [CM3117]"),
])
def test_devices_without_double(source: str, expected: str) -> None:
    assert reports(source, "intel_gpu_dg2_g10") == [expected]
    assert reports(source) == []


def test_double_constants_are_rounded_once_to_float() -> None:
    """0x1.000001000000001p0 lies above the middle of two floats; as a double it is the middle."""
    program, _ = compile_source("__constant float x = 0x1.000001000000001p0;", device=describe("intel_gpu_dg2_g10"))
    assert program.globals[0].initializer.value == 1 + 2.0**-23


def test_half_needs_its_extension() -> None:
    for source in ("void f(half x) { }", "void f(void) { half x; }"):
        unit, sink = parse_text(source)
        sema.analyze(unit, sink, features=frozenset())
        assert [d.code for d in sink.diagnostics] == ["CM3304"]
    unit, sink = parse_text("void f(__global half *x) { }")
    sema.analyze(unit, sink, features=frozenset())
    assert sink.diagnostics == []


# ------------------------------------------------------------------ how reports behave


def test_errors_do_not_cascade() -> None:
    """What is wrong in one place is not reported again where it is used."""
    source = """
void f(void) {
  unknown_type a = 1;
  int b = a + 1, c = missing * 2;
  a.x = b; a[1]++; b = c + *a;
  float4 v = (int4)(1, 2);
  v.x += b;
  int d[missing];
  d[1] = 2;
  struct S { missing_type m; int n; } s;
  s.n = 1;
  b = helper(a);
}
int g(unknown_type x) { return x; }
"""
    assert [d.location.line for d in diagnostics(source) if d.location] == [3, 4, 6, 8, 10, 12, 14]


def test_several_errors_are_found_in_one_run() -> None:
    found = diagnostics("void f(int i) { i = a; i = b; } void g(void) { return 1; } int h(float4 v) { return v; }")
    assert [d.code for d in found] == ["CM3101", "CM3101", "CM3510", "CM3001"]


def test_a_report_shows_the_place() -> None:
    with pytest.raises(CompileError) as caught:
        compile_source("void f(int i) {\n\ti = undefined_name + 1;\n}", name="dir/k.cl")
    assert str(caught.value) == (
        "dir/k.cl:2:6: error: use of undeclared identifier 'undefined_name' [CM3101]\n"
        "    2 |         i = undefined_name + 1;\n"
        "      |             ^~~~~~~~~~~~~~")


def test_a_report_inside_a_macro_names_the_macro() -> None:
    (found,) = diagnostics("#define TWICE(x) (x + missing)\nvoid f(int i) { i = TWICE(i); }")
    assert "expanded from macro 'TWICE'" in str(found)
    assert found.location is not None
    assert found.location.line == 2


@pytest.mark.parametrize(("source", "option"), [
    ("void f(int i) { i = i / 0; }", "division-by-zero"), ("void f(void) { int i = 1.5; }", "literal-conversion"),
    ("void f(int i) { i = i << 40; }", "shift-count-overflow"), ("int f(int i) { if (i) return 1; }", "return-type"),
])
def test_warnings_can_be_turned_off_or_into_errors(source: str, option: str) -> None:
    (found,) = diagnostics(source)
    assert (found.severity, found.option) == ("warning", option)
    assert diagnostics(source, "generic", f"-Wno-{option}") == []
    assert diagnostics(source, "generic", "-w") == []
    (error,) = diagnostics(source, "generic", "-Werror")
    assert error.severity == "error"


# ------------------------------------------------------------------ limits


@pytest.mark.parametrize(("source", "code"), [
    ("void f(__global int *p) { p" + "[0]" * 3000 + "; }", "CM3243"),
    ("void f(int x) { x = " + "+".join(["(x"] * 200) + ")" * 200 + "; }", None),
    ("void f(int x) { x = " + " + ".join(["x"] * 5000) + "; }", None),
    ("void f(int x) { " + "if (x) x = 1; else " * 900 + "x = 2; }", None),
    ("void f(int x) { switch (x) { " + "".join(f"case {i}: " for i in range(200)) + "; } }", None),
])
def test_deep_expressions(source: str, code: str | None) -> None:
    codes = {d.code for d in diagnostics(source)}
    assert codes == ({code} if code else set())


def test_what_the_limits_do_not_catch_is_still_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(parser, "parse", exhausted)
    (found,) = diagnostics("")
    assert found.code == messages.TOO_DEEP_FOR_PYTHON.code


def test_features_come_from_the_device() -> None:
    unit, sink = parse_text("void f(void) { }")
    assert isinstance(sink, DiagnosticSink)
    source = "#ifndef cl_khr_fp64\nvoid f(void) { }\n#endif"
    program, found = compile_source(source, device=describe("intel_gpu_dg2_g10"))
    assert found == []
    assert compile_source(source)[0].functions == []
    assert [function.name for function in program.functions] == ["f"]
    assert sema.analyze(unit, sink).functions[0].name == "f"


def test_a_range_left_of_what_is_shown_of_a_long_line() -> None:
    """The caret stands under its token; tildes of what is out of sight are left out."""
    file = SourceFile("k.cl", "x" * 500 + "?" + "y" * 500)
    marks = Marks((SourceLocation(file, 1, 3, 2), SourceLocation(file, 1, 900, 2)))
    line, pointers = snippet(SourceLocation(file, 1, 501, 1), marks)
    assert line[pointers.index("^")] == "?"
    assert "~" not in pointers
