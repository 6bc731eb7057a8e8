/* Functions that take and give values of all classes of the System V ABI. */
struct pair { long a, b; };
struct small { int x; char y; };
struct mixed { double d; int n; };
struct floats { float a, b, c; };
struct large { long a, b, c; };
union either { int n; float f; };
enum color { RED, GREEN };

int counter = 7;
static struct pair limits = { 1, 2 };
int grid[3][4];

#define NOINLINE __attribute__((noinline, noclone, noipa))

NOINLINE long add(int a, long b) { return a + b; }
NOINLINE struct pair swap(struct pair p, struct small s) { struct pair q = { p.b, p.a + s.x }; return q; }
NOINLINE struct mixed mix(double d, struct mixed m, int n) { m.d += d; m.n += n; return m; }
NOINLINE struct large grow(struct large l, int n) { l.a += n; return l; }
NOINLINE float sum(struct floats f, char c) { return f.a + f.b + f.c + c; }
NOINLINE long many(long a, long b, long c, long d, long e, struct pair p, long f, char g) { return a + b + c + d + e + p.a + f + g; }
NOINLINE int choose(union either e, int n) { return e.n + n; }
NOINLINE const char *name(enum color c, const char *fallback, void (*f)(int)) { f(c); return c == RED ? "red" : fallback; }
NOINLINE void nothing(void) { counter++; }

static void ignore(int n) { counter += n; }

int main(void) {
	struct pair p = { 1, 2 };
	struct small s = { 3, 'c' };
	struct mixed m = { 1.5, 4 };
	struct large l = { 1, 2, 3 };
	struct floats f = { 1, 2, 3 };
	union either e = { 5 };
	nothing();
	p = swap(p, s);
	m = mix(0.5, m, 1);
	l = grow(l, 2);
	return add(1, 2) + p.a + m.n + l.a + sum(f, 1) + many(1, 2, 3, 4, 5, limits, 6, 7) + choose(e, 1) + *name(GREEN, "x", ignore) + grid[1][2] > 1000;
}
