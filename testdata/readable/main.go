// Command readable calls functions with values that people read in a form of their own: times, addresses,
// maps, channels and chains of errors. Then it waits for SIGTERM. It needs Go 1.18.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

//go:noinline
func chans(c chan int, none chan string, held any) int { return len(c) }

//go:noinline
func times(at time.Time, took time.Duration, p *time.Time, all []time.Duration) time.Duration {
	return took
}

//go:noinline
func addrs(v4, v6, mapped netip.Addr) bool { return v4.IsValid() }

//go:noinline
func zones(zoned, none netip.Addr) bool { return zoned.IsValid() }

//go:noinline
func ports(p netip.AddrPort, n netip.Prefix, none netip.Prefix) uint16 { return p.Port() }

//go:noinline
func maps(m map[string]int, none, empty, large map[int]int) int { return len(m) }

//go:noinline
func fails(err error) string { return err.Error() }

func main() {
	c := make(chan int, 8)
	c <- 1
	c <- 2
	chans(c, nil, c)

	at := time.Date(2024, time.February, 29, 12, 0, 0, 500_000_000, time.UTC)
	times(at, 1500*time.Millisecond, &at, []time.Duration{time.Second, time.Hour})

	addrs(netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("::ffff:10.0.0.7"))
	zones(netip.MustParseAddr("fe80::1%eth0"), netip.Addr{})
	ports(netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParsePrefix("10.0.0.0/8"), netip.Prefix{})

	large := make(map[int]int)
	for i := 0; i < 100; i++ {
		large[i] = i
	}
	maps(map[string]int{"a": 1, "b": 2}, nil, map[int]int{}, large)

	fails(errors.New("plain"))
	fails(fmt.Errorf("open: %w", fs.ErrNotExist))
	fails(&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT})
	_, err := strconv.Atoi("x")
	fails(err)
	fails(context.DeadlineExceeded)

	// Who reads the values may ask what there is in memory.
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
}
