// flow has one function for each way in which C leaves one, and for what looks like
// it.
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((noinline, noclone, noipa, visibility("default")))

typedef int function(int);

struct methods {
	function *first, *second;
};

PLAIN int one(int x) { return x + 1; }
PLAIN int two(int x) { return x * 2; }
PLAIN void report(const char *what, int x) { fprintf(stderr, "%s %d\n", what, x); }

function *const functions[] = {one, two, one, two};

// Tail calls, when optimized.
PLAIN int tail_direct(int x) { return one(x + 3); }
PLAIN int tail_argument(int x, function *f) { return f(x); }
PLAIN int tail_method(struct methods *m, int x) { return m->second(x); }
PLAIN int tail_array(int x, unsigned i) { return functions[i & 3](x); }
PLAIN int tail_chosen(int x, int y) {
	function *f = y > 3 ? one : two;
	return f(x);
}
PLAIN int tail_frame(int x, function *f) {
	report("frame", x);
	report("frame", x + 1);
	return f(x);
}

// Switches: jumps through a register that stay inside.
PLAIN int switch_leaf(int x, int *a) {
	switch (x) {
	case 0: a[0]++; break;
	case 1: a[1] = a[2] * 3; break;
	case 2: return a[3];
	case 3: a[2] -= a[7]; break;
	case 4: a[4] ^= 5; return 7;
	case 5: a[5] = 1; break;
	case 6: a[1]--; break;
	case 7: a[9] = a[8]; break;
	default: return -1;
	}
	return a[0];
}
PLAIN int switch_frame(int x) {
	switch (x) {
	case 0: report("a", 1); break;
	case 1: report("b", 2); report("b", x); break;
	case 2: report("c", one(x)); break;
	case 3: report("d", two(x)); break;
	case 4: report("e", two(one(x))); break;
	case 5: report("f", 3); return 1;
	case 6: report("g", 9); break;
	}
	return one(x) + two(x);
}
PLAIN int goto_leaf(const unsigned char *p, int x) {
	static const void *const labels[] = {&&add, &&subtract, &&twice, &&end};
	goto *labels[*p & 3];
add:
	x += 3;
	goto *labels[*++p & 3];
subtract:
	x -= 5;
	goto *labels[*++p & 3];
twice:
	x *= 2;
	goto *labels[*++p & 3];
end:
	return x;
}

// A part that is hardly ever executed, which the compiler moves away.
PLAIN __attribute__((cold)) void complain(int x) { report("complain", x); }
PLAIN int with_cold_part(int x, int *a) {
	for (int i = 0; i < x; i++) {
		if (__builtin_expect(a[i] < 0, 0)) {
			complain(a[i]);
			report("negative", i);
			if (a[i] == -7)
				return two(a[i]) + i;
			a[i] = 0;
		}
		a[i] += one(i);
	}
	return a[0];
}

// What compilers do seldom, spelled out.
__asm__(
	".text\n"
	".globl asm_conditional\n.type asm_conditional,@function\nasm_conditional:\n"
	".cfi_startproc\n"
	"	testl %edi,%edi\n"
	"	jne asm_target\n"
	"	xorl %eax,%eax\n"
	"	ret\n"
	".cfi_endproc\n.size asm_conditional,.-asm_conditional\n"

	".globl asm_target\n.type asm_target,@function\nasm_target:\n"
	".cfi_startproc\n"
	"	leal 7(%rdi),%eax\n"
	".Lmiddle:\n"
	"	addl $1,%eax\n"
	"	ret\n"
	".cfi_endproc\n.size asm_target,.-asm_target\n"

	".globl asm_into_middle\n.type asm_into_middle,@function\nasm_into_middle:\n"
	".cfi_startproc\n"
	"	movl $2,%eax\n"
	"	jmp .Lmiddle\n"
	".cfi_endproc\n.size asm_into_middle,.-asm_into_middle\n"

	".globl asm_computed\n.type asm_computed,@function\nasm_computed:\n"
	".cfi_startproc\n"
	"	leaq 8(%rdi,%rdi),%rax\n"
	"	jmp *%rax\n"
	".cfi_endproc\n.size asm_computed,.-asm_computed\n"

	".globl asm_falls\n.type asm_falls,@function\nasm_falls:\n"
	".cfi_startproc\n"
	"	movl $2,%eax\n"
	".cfi_endproc\n.size asm_falls,.-asm_falls\n"
	"	ret\n");

int asm_conditional(int x);

int main(int argc, char **argv) {
	int a[16] = {0, 1, -7, 3};
	struct methods m = {one, two};
	unsigned char program[] = {0, 1, 2, 3};
	int sum = tail_direct(argc) + tail_argument(argc, two) + tail_method(&m, 3) + tail_array(4, argc) +
		tail_chosen(argc, argc) + tail_frame(1, one) + goto_leaf(program, argc) + asm_conditional(argc);
	for (int i = 0; i < 9; i++)
		sum += switch_leaf(i, a) + switch_frame(i);
	sum += with_cold_part(4, a);
	(void)argv;
	printf("%d\n", sum);
	return 0;
}
