constant int table[2] = {1, 2};
static int unused_static(int a) { return a; }
static inline int unused_inline(int a) { return a; }
static int used_static(int a) { return a; }
static int proto(int a);
int not_static(int a, int b) { return 1; }
inline int inl(int a) { return a; }
static void a(void); static void b(void) { } static void c(void) { b(); }
kernel void k(global int *p, int n, int unused_p, int set_p, __attribute__((unused)) int q) {
  int x;
  int y = 3;
  int z = n; z = 4; z += 2; z++;
  int w; w = p[0];
  float4 v; v.x = 1;
  int arr[3]; arr[0] = 1;
  int silenced __attribute__((unused));
  const int N = 3; int big[N]; big[0] = sizeof(y);
  local int loc; local int loc2[4]; loc2[0] = 1;
  constant int cc = 4;
  global int *ptr = p; ptr = p + 1;
  global int *ptr2 = p; *ptr2 = 1;
  int used = used_static(1);
  set_p = 3;
  typedef int my_int; typedef float my_f; my_f f = 1; p[0] = f + used;
  lab: ; lab2: ; goto lab2;
  for (int i = 0; i < 3; i++) { int inner; }
  for (int i = 0, j = 0; i < 3; i++, j++) { }
  int chain1, chain2; chain1 = chain2 = 3;
  int ret = (n = 3);
  int t = 0; p[1] = t++;
  int u2 = 0; if (n) u2 = 2; else u2 = 3;
  struct S { int a; } s; s.a = 1;
  enum { E1, E2 };
  volatile int vol; vol = 3;
  int n2 = n; { int n = 1; p[0] = n; int table = 2; p[0] = table; int p = 3; }
  int self = self;
}
