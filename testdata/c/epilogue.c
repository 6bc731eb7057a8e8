// epilogue has functions that jump to what they have computed, behind an epilogue and without one.
#include <stdint.h>
#include <stdio.h>

#define PLAIN __attribute__((noinline, noclone, noipa, visibility("default")))

typedef int function(int);

struct library {
	uintptr_t base, value;
};

volatile int reported;
uintptr_t secret = 0x5eed;

PLAIN int one(int x) { return x + 1; }
PLAIN void report(int x) { reported = x; }

PLAIN int sum(struct library *l, int x) {
	report(x);
	return ((function *)(l->base + l->value))(x);
}
PLAIN int mangled(uintptr_t *f, int x) {
	report(x);
	return ((function *)(*f ^ secret))(x);
}
PLAIN int leaf(struct library *l, int x) { return ((function *)(l->base + l->value))(x); }

int main(int argc, char **argv) {
	struct library l = {(uintptr_t)one, 0};
	uintptr_t f = (uintptr_t)one ^ secret;
	(void)argv;
	printf("%d\n", sum(&l, argc) + mangled(&f, argc) + leaf(&l, argc));
	return 0;
}
