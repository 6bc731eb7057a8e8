// mallocs calls malloc a known number of times between two lines on its standard
// output: "ready" and "malloc N". It waits for a line on its standard input
// between "ready" and the first of those calls; N is its argument, 1009 without one.
//
// Nothing else calls malloc in between: it writes with write(2), reads with read(2),
// and ends with _exit(2).
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text) {
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

static void say_number(long n) {
	char digits[24], *p = digits + sizeof digits;
	*--p = 0;
	do
		*--p = '0' + n % 10;
	while (n /= 10);
	say(p);
}

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 1009;
	void *volatile block = malloc(64); // resolves malloc and free, grows the heap
	char c;

	free(block);
	say("ready\n");
	while (read(0, &c, 1) == 1 && c != '\n')
		;
	for (long i = 0; i < n; i++) {
		block = malloc(64);
		free(block);
	}
	say("malloc ");
	say_number(n);
	say("\n");
	_exit(0);
}
