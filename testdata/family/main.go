// Command family starts processes, and becomes others, for tests that follow a target.
//
// Its arguments are steps, done one after the other:
//
//	work=N      calls main.work N times
//	ask=N       asks the kernel N times for its parent, in main.ask
//	stdin       says "ready PID" and waits for a line, or the end, of its input
//	child=N     starts a process that does work=N, and waits for it
//	many=K:N    does child=N K times
//	orphan=N    starts a process that starts one that does work=N, and does not wait for it
//	fork=STEPS  starts a process that does the steps, between commas, and waits for it
//	split=N     forks a process that does not execute a program, but work=N, and waits for it
//	held        calls main.held, which does the steps that are left
//	exec        executes this program, which does the steps that are left
//	thread      is exec on a thread that is not the first
//	leave       ends the first thread; another does the steps that are left
//	rest        does nothing for a second
//	name=NAME   gives the process a name
//	run=PATH    executes another program, with the arguments that are left
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:noinline
func work(n int) int { return n + 1 }

//go:noinline
func ask() int { return syscall.Getppid() }

//go:noinline
func held(steps []string) { do(steps) }

// The main goroutine keeps the first thread.
func init() { runtime.LockOSThread() }

func main() { do(os.Args[1:]) }

func do(steps []string) {
	for i, step := range steps {
		verb, arg, _ := strings.Cut(step, "=")
		left := steps[i+1:]
		switch verb {
		case "work":
			for n := range number(arg) {
				work(n)
			}
		case "ask":
			for range number(arg) {
				ask()
			}
		case "stdin":
			fmt.Println("ready", os.Getpid())
			os.Stdin.Read(make([]byte, 1))
		case "child":
			start(spell("work", arg)).Wait()
		case "many":
			times, calls, _ := strings.Cut(arg, ":")
			for range number(times) {
				start(spell("work", calls)).Wait()
			}
		case "orphan":
			orphan(arg)
		case "parent":
			start(spell("work", arg))
			return
		case "fork":
			start(strings.Split(arg, ",")...).Wait()
		case "split":
			calls := number(arg)
			child, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
			if child == 0 {
				for n := range calls {
					work(n)
				}
				syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
			}
			_, err := syscall.Wait4(int(child), nil, 0, nil)
			check(err)
		case "held":
			held(left)
			return
		case "exec":
			become("/proc/self/exe", os.Args[0], left)
		case "thread":
			go func() {
				runtime.LockOSThread()
				become("/proc/self/exe", os.Args[0], left)
			}()
			select {}
		case "leave":
			go func() {
				do(left)
				os.Exit(0)
			}()
			syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
		case "rest":
			time.Sleep(time.Second)
		case "name":
			check(os.WriteFile("/proc/self/comm", []byte(arg), 0o644))
		case "run":
			become(arg, arg, left)
		}
	}
}

func spell(verb, arg string) string { return verb + "=" + arg }

func number(text string) int {
	n, err := strconv.Atoi(text)
	check(err)
	return n
}

func start(steps ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", steps...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	check(cmd.Start())
	return cmd
}

// orphan returns when the last process that has the pipe has ended.
func orphan(calls string) {
	r, w, err := os.Pipe()
	check(err)
	cmd := exec.Command("/proc/self/exe", spell("parent", calls))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, w, os.Stderr
	check(cmd.Run())
	w.Close()
	io.Copy(io.Discard, r)
}

func become(path, name string, args []string) {
	check(syscall.Exec(path, append([]string{name}, args...), os.Environ()))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
