package terminal

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// restore undoes what a full screen has set: attributes, colours and hidden cursor (ECMA-48, DEC private
// modes), keypad, margins, mouse, pasted text, and the alternate screen, last.
const restore = "\x1b[m\x1b[?25h\x1b[?1l\x1b>\x1b[?7h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1016l\x1b[?2004l\x1b[?1004l\x1b[?1049l"

// Guarded has a program of the given arguments, which is to call [Guard], stand by until release is called:
// a process that is killed can't give its terminal back itself.
func Guarded(args ...string) (release func(), err error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	defer tty.Close()
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	cmd := exec.Command("/proc/self/exe", args...)
	// A session of its own: what ends this process is not to end the guard, and a terminal does not
	// stop who changes it and is none of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout = tty
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("guard terminal: %w", err)
	}
	if err := binary.Write(in, binary.NativeEndian, before); err != nil {
		return nil, fmt.Errorf("guard terminal: %w", err)
	}
	return func() {
		_, _ = in.Write([]byte{0}) // it has gone before: then there is nothing to release
		_ = in.Close()
		_ = cmd.Wait()
	}, nil
}

// Guard waits until the one who has called [Guarded] releases it or ends, and in that case gives its
// terminal back, which out is, with a line of what has happened.
func Guard(in io.Reader, out *os.File, line string) error {
	var before unix.Termios
	if err := binary.Read(in, binary.NativeEndian, &before); err != nil {
		return nil // it has ended before there was anything to give back
	}
	if n, _ := in.Read(make([]byte, 1)); n > 0 {
		return nil
	}
	fd := int(out.Fd())
	now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil // the terminal is gone
	}
	// A shell may have set what it needs itself; it leaves Ctrl-C a signal.
	if now.Lflag&unix.ISIG == 0 {
		err = unix.IoctlSetTermios(fd, unix.TCSETS, &before)
	}
	_, werr := io.WriteString(out, restore+"\r\n"+line+"\r\n")
	if err == nil {
		err = werr
	}
	return err
}
