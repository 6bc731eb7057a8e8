package offsets

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestMethodTypes: methods have their types in a stripped program, with
// receivers of all kinds, and so have the compiler's wrappers of them.
func TestMethodTypes(t *testing.T) {
	for _, version := range []string{"1.12.17", "1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.24.6", "1.26.8", "1.27.4", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "httpd", "-ldflags=-s -w"))
			for _, want := range []struct{ name, params, results string }{
				{"net/http.(*response).Write", "p0=ax/8 p1=bx/8,cx/8,di/8: *http.response, []uint8", "r0=ax/8 r1=bx/8,cx/8: int, error"},
				{"net/http.HandlerFunc.ServeHTTP", "p0=ax/8 p1=bx/8,cx/8 p2=di/8: http.HandlerFunc, http.ResponseWriter, *http.Request", ": "},
				{"net/http.(*HandlerFunc).ServeHTTP", "p0=ax/8 p1=bx/8,cx/8 p2=di/8: *http.HandlerFunc, http.ResponseWriter, *http.Request", ": "},
				{"time.Duration.String", "p0=ax/8: time.Duration", "r0=ax/8,bx/8: string"},
				{"net.(*IPAddr).String", "p0=ax/8: *net.IPAddr", "r0=ax/8,bx/8: string"},
				{"net.(*conn).SetDeadline", "p0=ax/8 p1=bx/8,cx/8,di/8: *net.conn, time.Time", "r0=ax/8,bx/8: error"},
			} {
				f, ok := b.Lookup(want.name)
				if !ok {
					t.Errorf("no function %s", want.name)
					continue
				}
				s, err := b.Signature(f)
				if err != nil {
					t.Errorf("%s: %v", want.name, err)
					continue
				}
				params, results := spell(s.Params)+": "+typeNames(s.Params), spell(s.Results)+": "+typeNames(s.Results)
				if minor, _ := b.GoVersion(); minor < b.File().Processor.Machine().FirstRegisters {
					_, want.params, _ = strings.Cut(want.params, ": ")
					_, want.results, _ = strings.Cut(want.results, ": ")
					params, results = typeNames(s.Params), typeNames(s.Results)
				}
				if s.Source != fromTypes || params != want.params || results != want.results {
					t.Errorf("%s by %s\n got %s | %s\nwant %s | %s", want.name, s.Source, params, results, want.params, want.results)
				}
			}
		})
	}
}
