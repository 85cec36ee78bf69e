import CTerminalKit
import Glibc

/// A terminal opened for one question: without echo, and put back when this goes away.
@safe struct TerminalDevice: ~Copyable {
    private let descriptor: Int32
    private let wake: WakePipe

    init(path: String, wake: WakePipe, discardsInput: Bool) throws(TerminalError) {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0, isatty(descriptor) == 1 else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw TerminalError(
                .notATerminal, "there is no terminal to ask on; give the value by an option, a file or a variable",
                errno: error)
        }
        // Fails for a terminal that does not control this process, and then no other job can own it.
        let foreground = tcgetpgrp(descriptor)
        guard foreground < 0 || foreground == getpgrp() else {
            close(descriptor)
            throw TerminalError(.inBackground, "cannot ask from the background; bring the program back with fg")
        }
        let error = martlet_terminal_enter(descriptor, wake.writeEnd, discardsInput)
        guard error == 0 else {
            close(descriptor)
            throw error == EBUSY
                ? TerminalError(.busy, "another question is open on the terminal; answer that one first")
                : TerminalError(.system, "cannot switch the echo of the terminal off", errno: error)
        }
        self.descriptor = descriptor
        self.wake = wake
    }

    deinit {
        martlet_terminal_leave()
        close(descriptor)
    }

    var columns: Int { Terminal(fileDescriptor: descriptor).size().columns }

    /// Whether more was typed already.
    var hasInput: Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&ready, 1, 0) > 0
    }

    /// The next byte, or nothing when the terminal is gone.
    borrowing func readByte() throws(TerminalError) -> UInt8? {
        while true {
            try wait(for: Int16(POLLIN))
            var byte: UInt8 = 0
            let count = unsafe read(descriptor, &byte, 1)
            if count == 1 { return byte }
            // A terminal whose other side was closed answers with an error of its own instead of an end.
            if count == 0 || errno == EIO { return nil }
            guard errno == EINTR || errno == EAGAIN else {
                throw TerminalError(.system, "cannot read from the terminal", errno: errno)
            }
        }
    }

    /// Writes all of `text`; waits while the terminal is stopped.
    borrowing func write(_ text: String) throws(TerminalError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            try wait(for: Int16(POLLOUT))
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes.removeFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                throw TerminalError(.system, "cannot write to the terminal", errno: errno)
            }
        }
    }

    /// Moves on from the line of the prompt, trying once: what ends a question must not wait for a stopped terminal.
    borrowing func endLine() {
        var newline = UInt8(ascii: "\n")
        _ = unsafe Glibc.write(descriptor, &newline, 1)
    }

    /// Returns when the terminal is ready; throws when somebody ended the wait.
    private borrowing func wait(for events: Int16) throws(TerminalError) {
        var waiting = [
            pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: events, revents: 0),
        ]
        while unsafe poll(&waiting, 2, -1) < 0 {
            guard errno == EINTR else {
                throw TerminalError(.system, "cannot wait for the terminal", errno: errno)
            }
        }
        guard waiting[0].revents != 0 else { return }
        throw wake.reason() == .cancelled
            ? TerminalError(.cancelled, "the question was withdrawn")
            : TerminalError(.interrupted, "the question was interrupted by a signal")
    }
}
