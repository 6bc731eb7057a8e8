/* Functions that take values of floating point in all ways that the AAPCS64 has for them. */
typedef float four __attribute__((vector_size(16)));
struct floats { float a, b, c, d; };
struct doubles { double a[2]; struct { double b, c; } in; };
struct five { float a[5]; };
struct unlike { float a; double b; };
struct words { long a, b; };
struct nine { char text[9]; };

int counter = 7;

#define NOINLINE __attribute__((noinline, noclone, noipa))

NOINLINE double spread(struct doubles d, int n) { return d.a[0] + d.a[1] + d.in.b + d.in.c + n; }
NOINLINE struct doubles turn(struct doubles d) { struct doubles r = { { d.in.c, d.in.b }, { d.a[1], d.a[0] } }; return r; }
NOINLINE float referred(struct five f, int n) { return f.a[4] + n; }
NOINLINE double twice(struct unlike u, int n) { return u.a + u.b + n; }
NOINLINE double rest(double a, struct floats b, struct floats c, float d, int n) { return a + b.a + c.b + d + n; }
NOINLINE long ended(long a, long b, long c, long d, long e, long f, long g, struct words w, int h) { return a + b + c + d + e + f + g + w.a + w.b + h; }
NOINLINE struct five five(struct five *p, int n) { struct five f = *p; f.a[0] = n; return f; }
NOINLINE struct nine text(struct nine t, int n) { t.text[0] += n; return t; }
NOINLINE double complexes(_Complex double z, int n, _Complex float y) { return __real__ z + __imag__ z + n + __real__ y; }
NOINLINE float vector(four v, int n) { return v[0] + n; }

int main(void) {
	struct floats f = { 1, 2, 3, 4 };
	struct doubles d = { { 1, 2 }, { 3, 4 } };
	struct five v = { { 1, 2, 3, 4, 5 } };
	struct unlike u = { 1, 2 };
	struct words w = { 1, 2 };
	struct nine t = { "12345678" };
	four x = { 1, 2, 3, 4 };
	d = turn(d);
	v = five(&v, counter);
	t = text(t, counter);
	return spread(d, 1) + referred(v, 2) + twice(u, 3) + rest(1, f, f, 2, 3) + ended(1, 2, 3, 4, 5, 6, 7, w, 8) + t.text[0] + complexes(1, 2, 3) + vector(x, 2) > 1000;
}
