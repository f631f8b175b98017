package speed

import "syscall"

// endsWithUs has the kernel end a child when this process is gone, however it went.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
