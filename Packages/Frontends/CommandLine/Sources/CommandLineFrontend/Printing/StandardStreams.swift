import Capabilities
import Glibc
import Synchronization
import TerminalKit

/// Standard output and error, written whole and in order.
final class StandardStreams: Sendable {
    /// Set once nobody reads the output any more, after which nothing more is written to it.
    private let outputIsGone = Mutex(false)
    /// The first failure to write, which an action that goes on without its output does not tell.
    private let outputFailure = Mutex<OutputError?>(nil)
    private let outputWasClosed: Bool
    /// Waits until there is room in a descriptor; false when that is given up.
    ///
    /// In a struct, because a closure that a lock holds by itself is wrapped once more each time it is looked at: after
    /// some ten thousand writes a call goes through as many wrappings, and takes a millisecond.
    private struct Waiting {
        var wait: @Sendable (Int32) -> Bool
    }

    private let waiting = Mutex(Waiting { _ in true })
    /// The descriptors that results and messages go to.
    let output: Int32
    let errors: Int32

    /// The streams of the process, unless a test has others.
    init(output: Int32 = 1, errors: Int32 = 2) {
        self.output = output
        self.errors = errors
        // A descriptor that the parent closed would be given to the next file that is opened, and our output with it.
        outputWasClosed = fcntl(output, F_GETFD) == -1
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
    }

    /// Has something else wait where a reader lets the program wait, so that it can still be ended.
    func wait(by wait: @escaping @Sendable (Int32) -> Bool) {
        waiting.withLock { $0.wait = wait }
    }

    /// Writes to standard output.
    ///
    /// - Throws: `OutputError`; `.nobodyReads` when the reader has gone, which is no failure of ours, or reads nothing
    ///   although the program has to end.
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

    /// Throws when some of the output could not be written, except because nobody reads it any more.
    func requireWhole() throws(OutputError) {
        if let failure = outputFailure.withLock({ $0 }) { throw failure }
    }

    /// Writes a line to standard error, where a failure to write can be told to nobody.
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
                    // Where there is any room in a pipe, there is room for as much as this.
                    size = min(size, Int(PIPE_BUF))
                }
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), size)
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    // The parent gave us a descriptor that does not wait, so we do.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Whether results and messages go to the same place, as with `2>&1`.
    var areOne: Bool {
        var (first, second) = (stat(), stat())
        guard unsafe fstat(output, &first) == 0, unsafe fstat(errors, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether it is no file but leads to somebody, who may be slow.
    private static func hasReader(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG
    }
}

/// Why the result did not get out.
enum OutputError: Failure, Hashable {
    case nobodyReads
    case failed(Int32)

    var code: String { "output.failed" }
    var exit: ExitCode { self == .nobodyReads ? .done : .failed }
    var message: String {
        switch self {
        case .nobodyReads: "nobody reads the output any more"
        case .failed(let number):
            "the result could not be written: \(unsafe String(cString: strerror(number)).lowercased()); "
                + "what was done stays done"
        }
    }
}
