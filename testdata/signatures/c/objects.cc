// Functions of C++ that take or give objects, and one that does not.
struct object {
	object(const object &);
	long n;
};
extern object one;

int take(int n, object o) { return n + o.n; }
object give(int) { return one; }
int plain(int *p, int n) { return *p + n; }
object one = one;
