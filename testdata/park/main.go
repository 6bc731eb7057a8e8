// Command park has goroutines in every state that a stack dump shows. With an argument N, it parks N more, says "ready", and
// when a line arrives on standard input, it writes its own stack dump and goes on. With the argument "busy", goroutines never
// rest for long. A function whose name ends in a letter is called only by the function whose name ends in that letter.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func main() {
	if os.Args[1] == "busy" {
		busy()
	}
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for i := 0; i < n; i++ {
		go worker(i%7, make(chan int))
	}
	park()
	in := bufio.NewReader(os.Stdin)
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	for fmt.Println("ready"); ; fmt.Println("ready") {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		buf := make([]byte, 1<<26)
		os.Stdout.Write(buf[:runtime.Stack(buf, true)])
		fmt.Println()
	}
}

//go:noinline
func worker(depth int, c chan int) {
	if depth > 0 {
		worker(depth-1, c)
		return
	}
	wait(c)
}

// wait is inlined.
func wait(c chan int) { <-c }

type held struct{ sync.Mutex }

func (h *held) take() { h.Lock() }

// park starts a goroutine for each way to wait.
func park() {
	var mu held
	mu.Lock()
	var group sync.WaitGroup
	group.Add(1)
	var rw sync.RWMutex
	rw.Lock()
	full := make(chan int)
	cond := sync.NewCond(&sync.Mutex{})
	ends := make([]int, 2)
	if err := syscall.Pipe(ends); err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go mu.take() // by a method value
	go group.Wait()
	go rw.RLock()
	go func() { full <- 1 }()
	go func() { <-(chan int)(nil) }()
	go func() { select {} }()
	go func() {
		select {
		case <-make(chan int):
		case <-make(chan int):
		}
	}()
	go func() {
		cond.L.Lock()
		cond.Wait()
	}()
	go time.Sleep(time.Hour)
	go listener.Accept()
	go syscall.Read(ends[0], make([]byte, 1))
	go func() {
		runtime.LockOSThread()
		wait(make(chan int))
	}()
	go func() {
		defer func() { wait(make(chan int)) }()
		var p *int
		*p = 1
	}()
	go func() {
		defer func() {
			recover()
			wait(make(chan int))
		}()
		panic("parks")
	}()
	go func() {
		go wait(make(chan int))
		deep(3000)
	}()
	<-time.After(50 * time.Millisecond)
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		wait(make(chan int))
	}
	return deep(n-1) + 1
}

// busy runs for ever. The functions of a goroutine have frames of the same sizes, so that parts of two stacks would fit
// together.
func busy() {
	ping, pong := make(chan int), make(chan int)
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	fd := int(null.Fd())
	go func() {
		for i := range ping {
			pong <- i
		}
	}()
	go startX(func() {
		ping <- 1
		<-pong
	})
	var mu sync.Mutex
	for i := 0; i < 4; i++ {
		go startX(func() {
			mu.Lock()
			runtime.Gosched()
			mu.Unlock()
		})
	}
	go startX(func() { syscall.Write(fd, []byte("x")) })
	go startX(func() { time.Sleep(time.Microsecond) })
	go startX(func() { // goroutines that come and go, on stacks that grow
		var group sync.WaitGroup
		group.Add(2)
		go func() {
			grows(40)
			group.Done()
		}()
		go func() {
			grows(10)
			group.Done()
		}()
		group.Wait()
	})
	fmt.Println("ready")
	select {}
}

//go:noinline
func grows(n int) (sum int) {
	var a [64]int
	if n > 0 {
		sum = grows(n - 1)
	} else {
		runtime.Gosched()
	}
	return sum + a[n]
}

//go:noinline
func startX(block func()) {
	for {
		stepA(block)
		stepB(block)
	}
}

//go:noinline
func stepA(block func()) { middleA(block); runtime.KeepAlive(block) }

//go:noinline
func stepB(block func()) { middleB(block); runtime.KeepAlive(block) }

//go:noinline
func middleA(block func()) { leafA(block); runtime.KeepAlive(block) }

//go:noinline
func middleB(block func()) { leafB(block); runtime.KeepAlive(block) }

//go:noinline
func leafA(block func()) { block(); runtime.KeepAlive(block) }

//go:noinline
func leafB(block func()) { block(); runtime.KeepAlive(block) }
