// host loads a shared library made by Go and calls its function inner ten times on each
// of two threads.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int (*inner)(int);

static void *work(void *unused) {
	for (int i = 0; i < 10; i++)
		inner(i);
	return unused;
}

int main(int argc, char **argv) {
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	pthread_t threads[2];

	if (!library || !(inner = (int (*)(int))dlsym(library, "inner"))) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
