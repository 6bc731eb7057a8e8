// Package where is the language of filters: which calls to show, by their arguments,
// results and latency.
//
//	n > 100 && key == "bob"
//	req.URL.Path =~ "^/api/" || latency >= 5ms
//	!(s.items[0].name == "" || len(buf) % 4096 != 0)
//	flags & 0x10 && err != nil
//
// Operators are those of Go, and bind as in Go: || && == != < <= > >= + - * / % & and
// unary ! -; =~ searches for a regular expression (RE2), and binds as == does. An & where
// a condition is expected means that a bit is set.
//
// Operands are literals of Go (42, 0x2a, 1_000, 1.5, "text", `text`, true, false, nil),
// durations (10ms, 1.5us: numbers of nanoseconds), variables and parts of them (n,
// req.URL.Path, s.items[0].name, *p), len(x) and cap(x), and what the caller
// knows of a call beside these.
//
// Numbers are compared by their value, whatever their size and sign, and nothing wraps
// around. An error is compared with a string by its message, any other interface by the
// value it holds.
//
// What can't be known, since a value was not readable, not fetched or cut, makes a
// condition unknown, unless the rest decides: "unknown || true" is true. A cut string is
// known by its length and its first bytes.
//
// The package reads filters, evaluates them and finds the part that the kernel can
// evaluate. Fetching values, and counting what is unknown, is left to its caller.
package where
