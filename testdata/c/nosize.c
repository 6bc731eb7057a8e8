/* nosize calls functions of assembly: nosize and typed do not say how long they are, and behind typed is what is not its own. */
#include <stdio.h>

int nosize(int), typed(int), sized(int);

__asm__(
	".text\n"
	".globl nosize\n"
	"nosize:\n"
	"	lea 1(%rdi), %eax\n"
	"	ret\n"
	"	.p2align 4\n"
	".globl typed\n"
	".type typed, @function\n"
	"typed:\n"
	"	push %rbx\n"
	"	mov %edi, %ebx\n"
	"	test %ebx, %ebx\n"
	"	jle last\n"
	"inner:\n"
	"	sub $1, %ebx\n"
	"	jg inner\n"
	"	nop\n"
	"last:\n"
	"	pop %rbx\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"table:\n"
	"	.byte 0xc3, 0xc3, 0xff, 0xff, 0xff\n"
	".globl sized\n"
	".type sized, @function\n"
	"sized:\n"
	"	lea 2(%rdi), %eax\n"
	".globl within\n"
	"within:\n"
	"	ret\n"
	".size sized, .-sized\n");

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1009; i++)
		sum += nosize(i) + (i < 503 ? sized(i) : 0) + (i < 251 ? typed(i & 7) : 0);
	printf("%d\n", sum);
	return 0;
}
