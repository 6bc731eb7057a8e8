// Asks the kernel for the parent's process id: N times in twice, and twice as often in ask.
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) long ask(void) { return syscall(SYS_getppid) + 1; }

__attribute__((noinline)) long twice(void) {
	long sum = ask();
	sum += syscall(SYS_getppid);
	return sum + ask();
}

int main(int argc, char **argv) {
	long sum = 0;
	for (int n = argc > 1 ? atoi(argv[1]) : 1; n > 0; n--)
		sum += twice();
	return sum < 0;
}
