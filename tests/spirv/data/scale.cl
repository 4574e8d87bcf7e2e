// A plain OpenCL C kernel with most of what the language makes of SPIR-V: vectors, structures, all scalar
// types, constant data, loops, switches on int and long, helper functions.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef float float4 __attribute__((ext_vector_type(4)));
typedef struct { int a; float b[3]; char c; } Record;

__constant float table[4] = {1.0f, -0.5f, 3.14159f, 1e-40f};

int choose(int x, long y) {
  switch (x) {
    case 1: return 5;
    case -2: return 7;
    case 300: return (int)y;
    default: return x;
  }
}

long choose_long(long y) {
  switch (y) {
    case 1: return 5;
    case -2: return 7;
    case 30000000000L: return y;
    default: return y + 1;
  }
}

__kernel void scale(__global float *x, float f, int n, __global Record *s, __local int *tmp) {
  for (int i = 0; i < n; ++i) {
    if (i & 1) x[i] = x[i] * f + table[i & 3];
    else x[i] -= f;
    if (x[i] > 100.0f) break;
  }
  s->a = choose(n, 3);
  s[1].b[2] = f;
  s->c = (char)n;
  tmp[0] = n;
}

__kernel void convert(__global float4 *v, __global double *d, __global half *h, __global long *l) {
  float4 a = v[0];
  a.xy = a.zw * 2.0f;
  v[1] = a;
  d[0] = (double)a.x * 0.1;
  h[0] = h[1] + (half)1.5f;
  l[0] = choose_long(l[1]);
  volatile int k = 3;
  l[2] = k ? l[3] : 1;
}
