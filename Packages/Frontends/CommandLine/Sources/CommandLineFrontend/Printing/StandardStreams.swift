import Capabilities
import Glibc
import Synchronization
import TerminalKit

/// Standard output and error, written whole and in order.
final class StandardStreams: Sendable {
    /// Set when the reader is gone; nothing is written after that.
    private let outputIsGone = Mutex(false)
    /// The first write error, because an action that continues without its output does not report it.
    private let outputFailure = Mutex<OutputError?>(nil)
    private let outputWasClosed: Bool
    /// Waits until a descriptor can be written to; false if it gave up.
    ///
    /// In a struct, because a closure held directly by a mutex is wrapped again each time it is accessed: after ten
    /// thousand writes, a call would go through as many wrappers and take a millisecond.
    private struct Waiting {
        var wait: @Sendable (Int32) -> Bool
    }

    private let waiting = Mutex(Waiting { _ in true })
    /// The descriptors for results and messages.
    let output: Int32
    private let errors: Int32

    /// The streams of the process; tests pass others.
    init(output: Int32 = 1, errors: Int32 = 2) {
        self.output = output
        self.errors = errors
        // If the parent closed a descriptor, the next opened file would get its number and receive our output.
        outputWasClosed = fcntl(output, F_GETFD) == -1
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
    }

    /// Sets how to wait for a slow reader, so that the program can still be ended.
    func wait(by wait: @escaping @Sendable (Int32) -> Bool) {
        waiting.withLock { $0.wait = wait }
    }

    /// Writes to standard output.
    ///
    /// - Throws: `OutputError`. It is `.nobodyReads` if the reader has gone, which is not our failure, or if it reads
    ///   nothing although the program has to end.
    func write(_ text: String) throws(OutputError) {
        if outputWasClosed { throw OutputError.failed(EBADF) }
        if outputIsGone.withLock({ $0 }) { throw OutputError.nobodyReads }
        let error = writeAll(text, to: output)
        guard error != 0 else { return }
        if error == EPIPE || error == ETIMEDOUT {
            outputIsGone.withLock { $0 = true }
            throw OutputError.nobodyReads
        }
        let failure = OutputError.failed(error)
        outputFailure.withLock { $0 = $0 ?? failure }
        throw failure
    }

    /// Throws if output could not be written for any reason other than a reader that has gone.
    func requireWhole() throws(OutputError) {
        if let failure = outputFailure.withLock({ $0 }) { throw failure }
    }

    /// Writes a line to standard error. A failure cannot be reported anywhere.
    func writeError(_ line: String) {
        _ = writeAll(line + "\n", to: errors)
    }

    private func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        let wait = Self.hasReader(descriptor) ? waiting.withLock { $0.wait } : nil
        var text = text
        return text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                var size = bytes.count - done
                if let wait {
                    guard wait(descriptor) else { return ETIMEDOUT }
                    // A pipe that can be written to has room for at least this much.
                    size = min(size, Int(PIPE_BUF))
                }
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), size)
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    // The parent gave us a non-blocking descriptor, so we wait here.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Whether results and messages go to the same file, as with `2>&1`.
    var areOne: Bool {
        var (first, second) = (stat(), stat())
        guard unsafe fstat(output, &first) == 0, unsafe fstat(errors, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether the descriptor is not a regular file and so has a reader, which may be slow.
    private static func hasReader(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG
    }
}

/// Why the result could not be written.
enum OutputError: Failure, Hashable {
    case nobodyReads
    case failed(Int32)

    var code: String { "output.failed" }
    var exit: ExitCode { self == .nobodyReads ? .done : .failed }
    var message: String {
        switch self {
        case .nobodyReads: "the reader of the output has gone"
        case .failed(let number):
            "cannot write the result: \(SystemError(number).description.lowercased()); "
                + "what the command did is not undone"
        }
    }
}
