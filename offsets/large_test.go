package offsets

import (
	"os"
	"os/exec"
	"testing"
)

// benchmarkBinaryVar names a binary for the benchmarks of opening and planning; without
// it they use the go tool.
const benchmarkBinaryVar = "FTGO_BENCH_BINARY"

func benchmarkBinary(b *testing.B) string {
	if path := os.Getenv(benchmarkBinaryVar); path != "" {
		return path
	}
	path, err := exec.LookPath("go")
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// benchmarkOpened opens the binary anew each time: what is read once is read in all of
// them.
func benchmarkOpened(b *testing.B, work func(*Binary)) {
	path := benchmarkBinary(b)
	b.ReportAllocs()
	for b.Loop() {
		binary, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		work(binary)
		binary.Close()
	}
}

func BenchmarkOpenLarge(b *testing.B) {
	benchmarkOpened(b, func(*Binary) {})
}

// BenchmarkOpenLargeOne plans what a latency of one function needs.
func BenchmarkOpenLargeOne(b *testing.B) {
	benchmarkOpened(b, func(binary *Binary) {
		f, ok := binary.Lookup("main.main")
		if !ok {
			b.Fatal("no main.main")
		}
		if _, err := binary.Sites(f); err != nil {
			b.Fatal(err)
		}
		if _, err := binary.layout(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkOpenLargeAll decodes all functions, on one CPU.
func BenchmarkOpenLargeAll(b *testing.B) {
	benchmarkOpened(b, func(binary *Binary) {
		funcs := binary.Funcs()
		for i := range funcs {
			binary.Sites(&funcs[i])
		}
	})
}

func BenchmarkOpenLargeLookup(b *testing.B) {
	benchmarkOpened(b, func(binary *Binary) {
		if _, ok := binary.Lookup("main.main"); !ok {
			b.Fatal("no main.main")
		}
	})
}

// BenchmarkOpenLargeSignature reads debug information, where there is any.
func BenchmarkOpenLargeSignature(b *testing.B) {
	benchmarkOpened(b, func(binary *Binary) {
		f, ok := binary.Lookup("main.main")
		if !ok {
			b.Fatal("no main.main")
		}
		binary.Signature(f)
	})
}
