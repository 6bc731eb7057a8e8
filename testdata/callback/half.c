extern int inner(int n);

__attribute__((noinline)) int half(int n) { return inner(n) / 2; }
