int f(int a, int b);
int f(int a, int b) { return a + b; }
kernel void k(global int *p, int n, int m) {
  int i = 0;
  i = i++ + 1;
  p[i] = i++;
  p[i++] = i;
  p[i++] = p[i];
  p[i++] = 1;
  p[i] = n;
  i = ++i;
  i = i + 1;
  i += i++;
  n = f(i, i++);
  n = f(i++, i++);
  n = i++ + i++;
  n = i++ + i;
  n = i + i++;
  n = i++ && i;
  n = (i++, i);
  n = i++ ? i : i--;
  n = i++ + m++;
  n = n++ + m++ + n;
  if (i++ == i) p[0] = 1;
  while (i-- > i) p[0] = 2;
  int j = i++ + i;
  for (int q = 0; q < n; q = q++) p[q] = 1;
  *p++ = *p;
  p[0] = n = n + 1;
  n = m = n++;
  n = (m = 3) + m;
}
