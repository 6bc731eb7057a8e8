package debugfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/offsets"
)

// What servers may take, unless the environment says otherwise: waiting for the next bytes, in seconds
// ($DEBUGINFOD_TIMEOUT), all of it, in seconds ($DEBUGINFOD_MAXTIME), and how large the file may be, in bytes
// ($DEBUGINFOD_MAXSIZE). debuginfod's own client waits for 90 seconds, and for ever if bytes keep coming.
const (
	maxIdle = 10
	maxTime = 120
	maxSize = 2 << 30
	// maxMiss is for how many seconds nobody is asked again for what nobody had (cache_miss_s).
	maxMiss = 600
)

// setting is a positive number in the environment, or what suits.
func setting(name string, usual int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil && n > 0 {
		return n
	}
	return usual
}

func seconds(n int64) time.Duration {
	return time.Duration(min(n, 1<<31)) * time.Second
}

// download asks the servers of $DEBUGINFOD_URLS for what a build ID is of, and keeps what fits where
// debuginfod's own client does (debuginfod_find_debuginfo(3)). Without that variable there is neither.
func (s *Search) download(b *offsets.Binary, id string) {
	urls := strings.Fields(os.Getenv("DEBUGINFOD_URLS"))
	if len(urls) == 0 {
		return
	}
	dir := cacheDir()
	kept := filepath.Join(dir, id, "debuginfo")
	switch info, err := os.Stat(kept); {
	case err != nil:
	case info.Size() > 0:
		if s.take(b, kept, nil) {
			return
		}
	case time.Since(info.ModTime()) < seconds(cacheMiss(dir)):
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), seconds(setting("DEBUGINFOD_MAXTIME", maxTime)), errSlow)
	defer cancel()
	missing := true
	for _, url := range urls {
		err := s.fetch(ctx, b, strings.TrimSuffix(url, "/")+"/buildid/"+id+"/debuginfo", kept)
		if err == nil {
			return
		}
		if missing = missing && errors.Is(err, errMissing); !errors.Is(err, errMissing) {
			s.Say("debug information of %s: %v", b.File().Path(), err)
		}
		if ctx.Err() != nil {
			return
		}
	}
	if missing {
		keepMiss(kept)
	}
}

var (
	errMissing = errors.New("not there")
	errSlow    = errors.New("it takes too long ($DEBUGINFOD_MAXTIME)")
	errIdle    = errors.New("nothing comes ($DEBUGINFOD_TIMEOUT)")
)

// cacheDir is the folder of debuginfod's client.
func cacheDir() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	old := filepath.Join(home, ".debuginfod_client_cache")
	if _, err := os.Stat(old); err == nil {
		return old
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "debuginfod_client")
}

// cacheMiss is for how many seconds a miss is kept.
func cacheMiss(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, "cache_miss_s"))
	if n, nerr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && nerr == nil && n >= 0 {
		return n
	}
	return maxMiss
}

// keepMiss notes that nobody has it: the file is empty.
func keepMiss(kept string) {
	os.Remove(kept) // an older note
	if os.MkdirAll(filepath.Dir(kept), 0o700) == nil {
		os.WriteFile(kept, nil, 0o400) // without it somebody is asked again
	}
}

// fetch asks one server, and keeps what it has if that describes the binary. Until then the file has no name, so that
// nothing is left of it whatever happens.
func (s *Search) fetch(ctx context.Context, b *offsets.Binary, url, kept string) error {
	failed := func(err error) error {
		return fmt.Errorf("fetch %s: %w", url, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := seconds(setting("DEBUGINFOD_TIMEOUT", maxIdle))
	watch := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return failed(err)
	}
	if request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return failed(fmt.Errorf("%q is neither http nor https", request.URL.Scheme))
	}
	request.Header.Set("User-Agent", "ftgo")
	s.tell(url, 0, 0)
	answer, err := client.Do(request)
	if err != nil {
		return failed(cmp.Or(context.Cause(ctx), err))
	}
	defer answer.Body.Close()
	most := setting("DEBUGINFOD_MAXSIZE", maxSize)
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return failed(errMissing)
	case answer.StatusCode != http.StatusOK:
		return failed(errors.New(strconv.Quote(answer.Status)))
	case answer.ContentLength > most:
		return failed(tooLarge(most))
	}
	file, err := nameless(filepath.Dir(kept))
	if err != nil {
		return failed(err)
	}
	taken := false
	defer func() {
		if !taken {
			file.Close()
		}
	}()
	body := &watched{io.LimitReader(answer.Body, most+1), func(n int64) {
		watch.Reset(idle)
		s.tell(url, n, answer.ContentLength)
	}, 0}
	n, err := io.Copy(file, body)
	switch {
	case err != nil:
		return failed(cmp.Or(context.Cause(ctx), err))
	case n > most:
		return failed(tooLarge(most))
	}
	taken = true
	path := fmt.Sprintf("/proc/self/fd/%d", file.Fd()) // Describe closes the file that does not fit
	if err := b.Describe(file, kept); err != nil {
		return failed(err)
	}
	os.Remove(kept) // a note that nobody has it
	if unix.Linkat(unix.AT_FDCWD, path, unix.AT_FDCWD, kept, unix.AT_SYMLINK_FOLLOW) == nil {
		os.Chmod(kept, 0o400)
	} // else it is fetched again
	return nil
}

// client is one of its own: it keeps no connection for later.
var client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}}

func tooLarge(most int64) error {
	return fmt.Errorf("more than %d bytes ($DEBUGINFOD_MAXSIZE)", most)
}

// nameless is a file without a name in a folder, or, where those are not to be had, in that for temporary ones.
func nameless(dir string) (*os.File, error) {
	if os.MkdirAll(dir, 0o700) == nil {
		if f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600); err == nil {
			return f, nil
		}
	}
	f, err := os.CreateTemp("", "ftgo-debuginfo-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// watched tells how much was read.
type watched struct {
	io.Reader
	tell func(n int64)
	n    int64
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.n += int64(n)
		w.tell(w.n)
	}
	return n, err
}

func (s *Search) tell(url string, done, of int64) {
	if s.Loading != nil {
		const megabyte = 1e6
		s.Loading("megabytes fetched from "+url, int(done/megabyte), int(max(of, 0)/megabyte))
	}
}
