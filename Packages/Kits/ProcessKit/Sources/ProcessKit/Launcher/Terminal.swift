import Glibc

/// The controlling terminal, while this process is in its foreground.
final class Terminal: Sendable {
    /// Nil where there is no terminal, or where another job has it.
    let descriptor: Int32?

    init() {
        let opened = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        if opened >= 0, tcgetpgrp(opened) == getpgrp() {
            descriptor = opened
        } else {
            if opened >= 0 { close(opened) }
            descriptor = nil
        }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// Makes this process's group the one that the keyboard reaches.
    func takeBack() {
        give(to: getpgrp())
    }

    /// Makes a group the one that the keyboard reaches.
    func give(to group: Int32) {
        guard let descriptor else { return }
        // "If tcsetpgrp() is called by a member of a background process group in its session, and the calling process
        // is not blocking or ignoring SIGTTOU, a SIGTTOU signal is sent to all members" (tcsetpgrp(3)).
        var (blocked, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTTOU)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
        tcsetpgrp(descriptor, group)
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    }
}
