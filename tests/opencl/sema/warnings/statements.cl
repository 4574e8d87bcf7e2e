void g(void);
void g(void) { }
enum color { RED, GREEN, BLUE, ALSO_BLUE = BLUE, WHITE };
kernel void k(global int *p, int n, int m) {
  if (n > 3);
    p[0] = 1;
  if (n > 3); else p[0] = 1;
  if (n > 3)
    ;
  if (n) p[0] = 1; else;
  for (int i = 0; i < n; i++);
  for (int i = 0; i < n; i++);
  {
    p[1] = 2;
  }
  for (int i = 0; i < n; i++);
    p[1] = 2;
  while (n--);
    p[2] = 2;
  while (n--);
  while (n--);
  { p[0] = 1; }
  switch (n);
  do ; while (n--);
  for (int i = 0; i < n; i++)
    ;
  if (n) { }
  if (n)
    for (int i = 0; i < n; i++);
  if (n)
    if (m) p[0] = 1;
    else p[1] = 1;
  if (n)
    while (n) if (m) p[0] = 1; else p[1] = 1;
  if (n) { if (m) p[0] = 1; else p[1] = 1; }
  if (n)
    if (m) p[0] = 1;
    else p[1] = 1;
  else p[2] = 1;
  if (n)
    p[0] = 1;
    p[1] = 2;
  if (n)
    p[0] = 1;
  else
    p[2] = 1;
    p[1] = 2;
  for (int i = 0; i < n; i++)
    p[i] = 2;
    p[n] = 1;
  while (p[0])
    p[0]--;
    p[1] = 1;
  if (n) p[0] = 1; p[1] = 2;
  if (n)
    p[0] = 1; p[1] = 2;
  if (n)
  p[0] = 1;
  p[1] = 2;
  if (n) {
    p[0] = 1;
  }
    p[1] = 2;
  enum color c = (enum color)n;
  switch (c) { case RED: break; case GREEN: break; }
  switch (c) { case RED: break; }
  switch (c) { }
  switch (c) { case RED: break; default: break; }
  switch (c) { case RED: case GREEN: case BLUE: case WHITE: break; }
  switch (c) { case RED ... BLUE: break; }
  switch (c) { case RED: case GREEN: case BLUE: break; case 7: break; case WHITE: break; }
  switch ((int)c) { case RED: break; }
  switch (n) { case 1: p[0] = 1; case 2: p[1] = 2; break; case 3: case 4: p[2] = 1; __attribute__((fallthrough)); case 5: p[0] = 3; default: p[0] = 1; }
  switch (n) { case 1: if (m) break; case 2: break; case 3: return; case 4: { p[0] = 1; break; } case 5: { p[0] = 1; } default: break; case 6: ; case 7: if (n) break; else return; case 8: while (1) { } case 9: break; }
  for (int i = 0, j = 0; i < n; j++) p[j] = 1;
  for (int i = 0; i < n; ) p[0] = 1;
  for (int i = 0; i < m; ) p[i++] = 1;
  for (int i = 0; i < m; p[0]++) { if (p[i]) break; }
  for (int i = 0; p[i]; ) p[0] = 1;
  for (int i = 0; i < 3; ) g();
  for (int i = 0; i < n; m++) i += 1;
  for (int i = 0; i < get_local_size(0); ) p[0] = 1;
  for (int i = 0; i != n && m > 2; ) p[0] = 1;
  p[0] == 1;
  p[0] != 1;
  p[0] < 1;
  p[1] + 2;
  p[2];
  3;
  n;
  &n;
  *p;
  -n;
  !n;
  p;
  (n);
  (n == 2);
  n ? 1 : 2;
  n ? n++ : 2;
  n ? n == 1 : 2;
  n && m;
  n && n++;
  n || (m = 1);
  n, m;
  n++, m;
  n, m++;
  (void)n;
  (int)n;
  get_global_id(0);
  sqrt(1.0f);
  max(n, m);
  g();
  sizeof(n);
  (float4)(1.0f, 2, 3, 4);
  convert_int(2.0f);
  n += 1;
  n++;
  "abc";
  1.0f;
  for (n; n < 3; n) { n++; }
  for (n == 1; n < 3; n == 2) { n++; }
  if (n) n == 1;
  vload4(0, p);
  atomic_add(p, 1);
  barrier(1);
  fmin(1.0f, 2.0f) + 1;
  int4 v = 1;
  v.x;
  v.x == 1;
  n = m, p[0];
  select(1, 2, 3);
  mad24(1, 2, 3);
}
