package debugfile

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

const id = "00c0ffee"

// build builds a program with a build ID, which is told from others by its text.
func build(t *testing.T, name, ldflags string) string {
	return fixture.Build(t, name, "-ldflags="+ldflags+" -B 0x"+id)
}

// described searches for what describes a stripped program, and tells whether something does, and what was said.
func described(t *testing.T, path, root string) (found bool, said string) {
	t.Helper()
	b, err := offsets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var text strings.Builder
	(&Search{root: root, Say: func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }}).Describe(b)
	f, _ := b.Lookup("main.lookup")
	sig, err := b.Signature(f)
	return err == nil && len(sig.Params) == 2 && sig.Params[0].Name == "key", text.String()
}

// noServers has the environment name no servers and a cache of the test's own.
func noServers(t *testing.T) (cache string) {
	cache = t.TempDir()
	for _, name := range []string{"DEBUGINFOD_URLS", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_MAXSIZE", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
	return cache
}

// TestBuildID: below /usr/lib/debug a file is found by its build ID, and told if it is of another build.
func TestBuildID(t *testing.T) {
	noServers(t)
	stripped, root := build(t, "lookup", "-s -w"), t.TempDir()
	if found, said := described(t, stripped, root); found || said != "" {
		t.Errorf("nothing is there: found %v\n%s", found, said)
	}
	dir := filepath.Join(root, "usr/lib/debug/.build-id/00")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	place := func(path string) {
		t.Helper()
		at := filepath.Join(dir, "c0ffee.debug")
		os.Remove(at)
		if err := os.Symlink(path, at); err != nil {
			t.Fatal(err)
		}
	}
	place(build(t, "lookup", ""))
	if found, said := described(t, stripped, root); !found || said != "" {
		t.Errorf("found %v\n%s", found, said)
	}
	place(build(t, "greet", ""))
	if found, said := described(t, stripped, root); found || strings.Count(said, "\n") != 1 || !strings.Contains(said, " differs: ") {
		t.Errorf("another program's: found %v\n%s", found, said)
	}
}

// TestDebugLink: a file's CRC32 must be what the link says.
func TestDebugLink(t *testing.T) {
	noServers(t)
	objcopy, err := exec.LookPath("objcopy")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	debug, bin := filepath.Join(dir, "x.debug"), filepath.Join(dir, "x")
	run("--only-keep-debug", build(t, "lookup", ""), debug)
	run("--strip-all", "--add-gnu-debuglink="+debug, build(t, "lookup", ""), bin)
	root := t.TempDir()
	for _, at := range []string{debug, filepath.Join(dir, ".debug/x.debug"), filepath.Join(root, "usr/lib/debug", dir, "x.debug")} {
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(debug, at); err != nil {
			t.Fatal(err)
		}
		debug = at
		if found, said := described(t, bin, root); !found || said != "" {
			t.Errorf("%s: found %v\n%s", at, found, said)
		}
	}
	f, err := os.OpenFile(debug, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("x")
	f.Close()
	if found, said := described(t, bin, root); found || strings.Count(said, "\n") != 1 || !strings.Contains(said, "of .gnu_debuglink") {
		t.Errorf("a longer file: found %v\n%s", found, said)
	}
	if err := os.Truncate(debug, 1<<42); err != nil {
		t.Fatal(err)
	}
	if found, said := described(t, bin, root); found || strings.Count(said, "\n") != 1 || !strings.Contains(said, "it has more than ") {
		t.Errorf("a file of holes: found %v\n%s", found, said)
	}
}

// TestServer: what a server has is fetched once, and nobody is asked if no server is named.
func TestServer(t *testing.T) {
	cache := noServers(t)
	stripped, full := build(t, "lookup", "-s -w"), build(t, "lookup", "")
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, full)
	}))
	defer server.Close()
	check := func(what string, want bool, times int64) {
		t.Helper()
		if found, said := described(t, stripped, t.TempDir()); found != want || said != "" || asked.Load() != times {
			t.Errorf("%s: found %v, asked %d times\n%s", what, found, asked.Load(), said)
		}
	}
	check("no server", false, 0)
	t.Setenv("DEBUGINFOD_URLS", server.URL+"/nowhere "+server.URL+"/")
	check("the second has it", true, 2)
	check("it is kept", true, 2)
	kept := filepath.Join(cache, id, "debuginfo")
	text, err := os.ReadFile(kept)
	want, _ := os.ReadFile(full)
	if err != nil || !bytes.Equal(text, want) {
		t.Errorf("what was kept: %d bytes, want %d: %v", len(text), len(want), err)
	}
	os.Remove(kept)
	t.Setenv("DEBUGINFOD_URLS", server.URL+"/nowhere")
	check("nobody has it", false, 3)
	check("that is kept, too", false, 3)
	if err := os.WriteFile(filepath.Join(cache, "cache_miss_s"), []byte("0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("not for long", false, 4)
	t.Setenv("DEBUGINFOD_URLS", "")
	check("no server any more", false, 4)
}

// TestNoNetwork: without $DEBUGINFOD_URLS nobody is asked, whatever else the environment says.
func TestNoNetwork(t *testing.T) {
	stripped := build(t, "lookup", "-s -w")
	asked := 0
	usual := client.Transport
	defer func() { client.Transport = usual }()
	client.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		asked++
		return nil, errors.New("no way")
	})
	noServers(t)
	t.Setenv("DEBUGINFOD_MAXTIME", "5")
	for _, urls := range []string{"", " \t\n"} {
		t.Setenv("DEBUGINFOD_URLS", urls)
		if found, said := described(t, stripped, t.TempDir()); found || said != "" || asked > 0 {
			t.Errorf("urls %q: found %v, asked %d times\n%s", urls, found, asked, said)
		}
	}
	t.Setenv("DEBUGINFOD_URLS", "http://localhost")
	if _, said := described(t, stripped, t.TempDir()); asked != 1 || strings.Count(said, "\n") != 1 {
		t.Errorf("a server: asked %d times\n%s", asked, said)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBadServers: each costs a line, and leaves nothing behind.
func TestBadServers(t *testing.T) {
	stripped, full, other := build(t, "lookup", "-s -w"), build(t, "lookup", ""), build(t, "greet", "")
	text, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Sign in</html>") }, "not an ELF file"},
		{"another program's", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, other) }, " differs: "},
		{"stripped, too", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, stripped) }, "no debug information"},
		{"a cut file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			w.Write(text[:len(text)/2])
		}, "unexpected EOF"},
		{"half a file", func(w http.ResponseWriter, _ *http.Request) { w.Write(text[:len(text)/2]) }, ""},
		{"it hangs", func(_ http.ResponseWriter, r *http.Request) { <-gone }, "nothing comes ($DEBUGINFOD_TIMEOUT)"},
		{"it hangs later", func(w http.ResponseWriter, r *http.Request) {
			w.Write(text[:1000])
			w.(http.Flusher).Flush()
			<-gone
		}, "nothing comes ($DEBUGINFOD_TIMEOUT)"},
		{"it drips", func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(text[:1]); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}, "it takes too long ($DEBUGINFOD_MAXTIME)"},
		{"it says ten gigabytes", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "10000000000") }, "more than 20000000 bytes ($DEBUGINFOD_MAXSIZE)"},
		{"it sends and sends", func(w http.ResponseWriter, r *http.Request) {
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "more than 20000000 bytes ($DEBUGINFOD_MAXSIZE)"},
		{"it fails", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusBadGateway) }, `"502 Bad Gateway"`},
		{"it leads in circles", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "stopped after 10 redirects"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache := noServers(t)
			server := httptest.NewServer(test.answer)
			defer server.Close()
			t.Setenv("DEBUGINFOD_URLS", server.URL)
			t.Setenv("DEBUGINFOD_TIMEOUT", "1")
			t.Setenv("DEBUGINFOD_MAXSIZE", "20000000")
			if test.name == "it drips" {
				t.Setenv("DEBUGINFOD_TIMEOUT", "60")
				t.Setenv("DEBUGINFOD_MAXTIME", "1")
			}
			found, said := described(t, stripped, t.TempDir())
			if found || strings.Count(said, "\n") != 1 || !strings.Contains(said, server.URL) || !strings.Contains(said, test.want) {
				t.Errorf("found %v\n%swant %q", found, said, test.want)
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "*", "*")); left != nil {
				t.Errorf("left: %q", left)
			}
			if strings.HasPrefix(test.name, "it hangs") {
				gone <- struct{}{}
			}
		})
	}
	noServers(t)
	t.Setenv("DEBUGINFOD_URLS", "file:///etc")
	if found, said := described(t, stripped, t.TempDir()); found || !strings.Contains(said, "neither http nor https") {
		t.Errorf("found %v\n%s", found, said)
	}
}

// TestOpenNoDevice: what is no regular file is not opened, which would do something to many a device.
func TestOpenNoDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.debug")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	events, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(events)
	if _, err := unix.InotifyAddWatch(events, path, unix.IN_OPEN); err != nil {
		t.Skip(err)
	}
	if f, err := open(path); err == nil {
		f.Close()
		t.Error("it was taken")
	}
	var event [4096]byte
	if n, err := unix.Read(events, event[:]); err != unix.EAGAIN {
		t.Errorf("it was opened: %d bytes of events, %v", n, err)
	}
}
