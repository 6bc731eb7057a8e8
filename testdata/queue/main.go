// Queue passes jobs from main.put through channels to main.run, and says in JSON what became of them by its own clock: how many
// arrived, and how long they waited. On the way, jobs are reordered, one in 97 is dropped, one in 89 is duplicated, and one in
// 101 is put twice. Each job has an ID, a name and an address of its own.
//
//	queue N            passes N jobs
//	queue N BEFORE     puts BEFORE of the jobs, writes a line, and passes them on when it reads a line. It counts as if their
//	                   way had not been seen before that, and ends when its input does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

type job struct {
	ID   int64
	Name string
	Kind int8
	Size int

	put     time.Time // the last call of put, the zero time before any that counts
	puts    int       // calls of put that count
	mu      sync.Mutex
	runs    int
	waited  time.Duration // from the last call of put to the first of run
	enqueue bool
}

const (
	workers   = 8
	producers = 4
	batch     = 64 // jobs that are reordered at once
	inQueue   = 1024
)

var sink int

// put puts a job into the queue, unless j.enqueue is false.
//
//go:noinline
func put(queue chan<- *job, j *job) {
	j.put = time.Now()
	j.puts++
	if j.enqueue {
		queue <- j
	}
}

// run runs a job.
//
//go:noinline
func run(worker int, id int64, name string, j *job) {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.runs++; j.runs == 1 {
		j.waited = now.Sub(j.put)
	}
	for i := range j.Size {
		sink += i ^ worker
	}
}

// produce puts jobs, one in 101 twice.
func produce(queue chan<- *job, jobs []*job) {
	for _, j := range jobs {
		if j.ID%101 == 0 {
			put(queue, j)
		}
		j.enqueue = true
		put(queue, j)
	}
}

// dispatch passes jobs on, in another order.
func dispatch(from <-chan *job, to chan<- *job) {
	defer close(to)
	random := rand.New(rand.NewSource(1))
	var held []*job
	pass := func() {
		random.Shuffle(len(held), func(a, b int) { held[a], held[b] = held[b], held[a] })
		for _, j := range held {
			switch {
			case j.ID%97 == 0:
			case j.ID%89 == 0:
				to <- j
				to <- j
			default:
				to <- j
			}
		}
		held = held[:0]
	}
	for j := range from {
		if held = append(held, j); len(held) == batch {
			pass()
		}
	}
	pass()
}

func main() {
	n, before := 0, 0
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	if len(os.Args) > 2 {
		before, _ = strconv.Atoi(os.Args[2])
	}
	if n <= 0 || before > min(n, inQueue)/2 {
		fmt.Fprintln(os.Stderr, "usage: queue N [BEFORE]")
		os.Exit(2)
	}
	jobs := make([]*job, n)
	for i := range jobs {
		jobs[i] = &job{ID: int64(i), Name: fmt.Sprintf("job-%07d", i), Kind: int8(i % 3), Size: 200 * (1 + i%16)}
	}
	queue, out, in := make(chan *job, inQueue), make(chan *job, batch), bufio.NewReader(os.Stdin)
	if before > 0 {
		produce(queue, jobs[:before])
		for _, j := range jobs[:before] {
			j.puts = 0
		}
		fmt.Println("waiting")
		_, _ = in.ReadString('\n')
	}
	var producing, running sync.WaitGroup
	rest := jobs[before:]
	for part := range slices.Chunk(rest, max((len(rest)+producers-1)/producers, 1)) {
		producing.Add(1)
		go func() {
			defer producing.Done()
			produce(queue, part)
		}()
	}
	go dispatch(queue, out)
	for worker := range workers {
		running.Add(1)
		go func() {
			defer running.Done()
			for j := range out {
				run(worker, j.ID, j.Name, j)
			}
		}()
	}
	producing.Wait()
	close(queue)
	running.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(account(jobs))
	if before > 0 {
		_, _ = io.Copy(io.Discard, in)
	}
}

// account returns what became of the jobs.
func account(jobs []*job) map[string]int64 {
	counts := map[string]int64{"arrived": 0, "not_arrived": 0, "begun_again": 0, "arrived_again": 0, "begun_before": 0, "kind2": 0}
	var waited []time.Duration
	for _, j := range jobs {
		counts["begun_again"] += int64(max(j.puts-1, 0))
		counts["arrived_again"] += int64(max(j.runs-1, 0))
		switch {
		case j.puts == 0:
			counts["begun_before"] += int64(min(j.runs, 1))
		case j.runs == 0:
			counts["not_arrived"]++
		default:
			counts["arrived"]++
			waited = append(waited, j.waited)
			if j.Kind == 2 {
				counts["kind2"]++
			}
		}
	}
	slices.Sort(waited)
	for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		if len(waited) > 0 {
			counts[name] = waited[int(q*float64(len(waited)-1))].Nanoseconds()
		}
	}
	return counts
}
