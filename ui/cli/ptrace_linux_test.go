//go:build linux && (amd64 || arm64)

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// changing are the system calls by which a process changes what others find in
// a directory, and which of their arguments is a file descriptor.
var changing = map[uint64]struct {
	name string
	fd   int // -1 is none
}{
	unix.SYS_OPENAT: {"openat", -1}, unix.SYS_RENAMEAT: {"renameat", -1}, unix.SYS_RENAMEAT2: {"renameat2", -1},
	unix.SYS_LINKAT: {"linkat", -1}, unix.SYS_UNLINKAT: {"unlinkat", -1}, unix.SYS_MKDIRAT: {"mkdirat", -1},
	unix.SYS_FCHMODAT: {"fchmodat", -1}, unix.SYS_FCHOWNAT: {"fchownat", -1}, unix.SYS_UTIMENSAT: {"utimensat", -1},
	unix.SYS_WRITE: {"write", 0}, unix.SYS_PWRITE64: {"pwrite64", 0}, unix.SYS_FTRUNCATE: {"ftruncate", 0},
	unix.SYS_FCHMOD: {"fchmod", 0}, unix.SYS_FCHOWN: {"fchown", 0}, unix.SYS_FSYNC: {"fsync", 0}, unix.SYS_FDATASYNC: {"fdatasync", 0},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", 2},
}

var errNoTrace = errors.New("no process can be traced here")

// killedAt runs a command and kills it before its n-th system call that changes
// something below dir; between two of them nothing changes that a kill could
// leave behind. It returns which call that was, or "" if the command ended
// before, and how.
func killedAt(n int, dir string, argv, env []string) (call string, end syscall.WaitStatus, err error) {
	runtime.LockOSThread() // only the thread that has started it may trace it
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", 0, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		return "", 0, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	if _, err := wait(pid, &end); err != nil {
		return "", 0, err
	}
	const killWithTracer = 0x100000 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|killWithTracer); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = wait(pid, &end)
		return "", 0, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	seen := map[int]bool{}
	for tid := pid; ; {
		var deliver syscall.Signal
		switch sig := end.StopSignal(); {
		case sig == syscall.SIGTRAP|0x80:
			name, err := entered(tid, dir)
			if err != nil {
				err = fmt.Errorf("%w: %w", errNoTrace, err)
			} else if name != "" {
				n--
			}
			if n == 0 && call == "" || err != nil {
				call = name
				_ = syscall.Kill(pid, syscall.SIGKILL) // it is there: it is stopped
				return call, end, errors.Join(err, reap(pid, &end))
			}
		case sig == syscall.SIGTRAP, sig == syscall.SIGSTOP && !seen[tid]:
		default:
			deliver = sig
		}
		seen[tid] = true
		_ = syscall.PtraceSyscall(tid, int(deliver)) // a thread may be gone
		for {
			if tid, err = wait(pid, &end); err != nil {
				return "", 0, err
			}
			if end.Stopped() {
				break
			}
			if tid == pid {
				return "", end, nil
			}
		}
	}
}

// wait waits for a thread of the process group that this thread has started.
func wait(pgid int, ws *syscall.WaitStatus) (tid int, err error) {
	for {
		tid, err = syscall.Wait4(-pgid, ws, unix.WALL|unix.WNOTHREAD, nil)
		if err != syscall.EINTR {
			return tid, err
		}
	}
}

// reap waits for the end of what was killed.
func reap(pid int, ws *syscall.WaitStatus) error {
	for {
		tid, err := wait(pid, ws)
		if err != nil || tid == pid && !ws.Stopped() {
			return err
		}
	}
}

// entered returns the name of the system call that a stopped thread is about to
// make, if it changes something below dir.
func entered(tid int, dir string) (string, error) {
	const entry = 1
	var info struct {
		op   uint8
		_    [3]uint8
		arch uint32
		_    [2]uint64
		call uint64
		args [7]uint64
	}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return "", errno
	}
	c, ok := changing[info.call]
	if info.op != entry || !ok || info.call == unix.SYS_OPENAT && info.args[2]&unix.O_CREAT == 0 {
		return "", nil
	}
	var path string
	if c.fd >= 0 {
		path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, info.args[c.fd]))
	} else {
		var err error
		if path, err = text(tid, info.args[1]); err != nil {
			return "", err
		}
	}
	if !strings.HasPrefix(path, dir) && (filepath.IsAbs(path) || c.fd >= 0) {
		return "", nil
	}
	return c.name, nil
}

// text returns the text at an address of another process, up to its zero byte.
func text(tid int, at uint64) (string, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return "", err
	}
	defer memory.Close()
	b := make([]byte, unix.PathMax)
	n, err := memory.ReadAt(b, int64(at)) // the memory may end behind it
	end := bytes.IndexByte(b[:n], 0)
	if end < 0 {
		return "", err
	}
	return string(b[:end]), nil
}
