void use(int *p);
void use(int *p) { *p = 1; }
void noret(void) { }
kernel void k(global int *p, int n, int m) {
  { int x; p[0] = x; }
  { int x; x = 1; p[0] = x; }
  { int x; x += 1; p[0] = x; }
  { int x; x++; p[0] = x; }
  { int x = x; p[0] = x; }
  { int x = x + 1; p[0] = x; }
  { int x; use(&x); p[0] = x; }
  { int x; int *q = &x; p[0] = x + *q; }
  { int x; if (n) x = 1; p[0] = x; }
  { int x; if (n) x = 1; else x = 2; p[0] = x; }
  { int x; if (n) x = 1; else noret(); p[0] = x; }
  { int x; if (n) noret(); else x = 2; p[0] = x; }
  { int x; if (n) x = 1; if (n) p[0] = x; }
  { int x; if (n) p[0] = x; }
  { int x; if (n) return; p[0] = x; }
  { int x; if (n) { x = 1; } else { return; } p[0] = x; }
  { int x; if (n) x = 1; if (m) return; p[0] = x; }
  { int x; for (int i = 0; i < n; i++) x = i; p[0] = x; }
  { int x; for (int i = 0; i < n; i++) { p[i] = x; x = i; } }
  { int x; for (int i = 0; i < n; i++) { p[i] = x; } }
  { int x; while (n--) x = n; p[0] = x; }
  { int x; do x = n; while (n--); p[0] = x; }
  { int x; for (;;) { x = 1; break; } p[0] = x; }
  { int x; for (;;) { if (n) { x = 1; break; } if (m) break; } p[0] = x; }
  { int x; while (1) { x = 1; if (n) break; } p[0] = x; }
  { int x; switch (n) { case 1: x = 1; break; case 2: x = 2; break; } p[0] = x; }
  { int x; switch (n) { case 1: x = 1; break; default: x = 2; } p[0] = x; }
  { int x; switch (n) { case 1: x = 1; break; default: break; } p[0] = x; }
  { int x; switch (n) { case 1: x = 1; case 2: p[0] = x; } }
  { int x; p[0] = n ? x : 1; }
  { int x; p[0] = n && x; }
  { int x; n && (x = 1); p[0] = x; }
  { int x; if (n && (x = m)) p[0] = x; }
  { int x; if (n || (x = m)) p[0] = x; }
  { int x; if (n && (x = m)) p[0] = 1; else p[0] = x; }
  { int x, y; y = x; p[0] = y; }
  { int4 v; p[0] = v.x; }
  { int4 v; v.x = 1; p[0] = v.x; }
  { int4 v; v.x = 1; p[0] = v.y; }
  { int4 v; v.xy = 1; v += 1; p[0] = v.y; }
  { int a[2]; p[0] = a[0]; }
  { struct { int a; } s; p[0] = s.a; }
  { global int *q; p[0] = *q; }
  { global int *q; q[0] = 1; }
  { global int *q; if (n) q = p; *q = 1; }
  { int x; p[0] = sizeof(x); }
  { int x; (void)x; }
  { int x; p[0] = x; p[1] = x; }
  { int x; if (n) p[0] = x; else p[1] = x; }
  { int x; int y = n ? (x = 1) : 2; p[0] = x + y; }
  { }
  { int x; p[0] = (x = 1, x); }
  { int x; p[0] = (n, x); }
  { }
  { volatile int x; p[0] = x; }
  { int x; if (n > 3) { if (m) x = 1; else x = 2; } p[0] = x; }
  { int x; if (n > 3) { if (m) x = 1; } else x = 3; p[0] = x; }
  { int x; if (n == 1) x = 1; else if (n == 2) x = 2; p[0] = x; }
  { int x; if (n == 1) x = 1; else if (n == 2) x = 2; else x = 3; p[0] = x; }
  { int x; for (int i = 0; i < n; i++) if (i == m) x = i; p[0] = x; }
  { int x; for (int i = 0; i < n; i++) { if (i == 0) x = 1; p[i] = x; } }
  { int x; for (int i = 0; i < 4; i++) { if (n) continue; x = 1; } p[0] = x; }
  { int i; for (; i < n; i++) p[i] = 1; }
  { int sum; for (int i = 0; i < n; i++) sum += p[i]; p[0] = sum; }
  { int sum; for (int i = 0; i < n; i++) { sum = sum + p[i]; } p[0] = sum; }
  { int x; if (n) { x = 1; } if (m) { x = 2; } p[0] = x; }
  { bool found; for (int i = 0; i < n; i++) { if (p[i]) { found = true; break; } } if (found) p[0] = 1; }
}
kernel void nested(global int *p, int n) {
  int found = -1, value, other;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      if (p[k]) {
        found = k;
        value = p[k];
      }
    }
    while (p[i] > 3) { other = 1; p[i]--; }
  }
  if (found > 0) p[0] = value;
  p[1] = other;
}
