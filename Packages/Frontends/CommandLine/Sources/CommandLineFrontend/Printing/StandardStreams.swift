import Capabilities
import Glibc
import Synchronization
import TerminalKit

/// Standard output and error, written whole and in order.
final class StandardStreams: Sendable {
    /// Set once nobody reads the output any more, after which nothing more is written to it.
    private let outputIsGone = Mutex(false)
    private let outputWasClosed: Bool
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

    /// Writes to standard output.
    ///
    /// - Throws: `OutputError`; `.nobodyReads` when the reader has gone, which is no failure of ours.
    func write(_ text: String) throws(OutputError) {
        if outputWasClosed { throw OutputError.failed(EBADF) }
        if outputIsGone.withLock({ $0 }) { throw OutputError.nobodyReads }
        let error = Self.writeAll(text, to: output)
        guard error != 0 else { return }
        if error == EPIPE {
            outputIsGone.withLock { $0 = true }
            throw OutputError.nobodyReads
        }
        throw OutputError.failed(error)
    }

    /// Writes a line to standard error, where a failure to write can be told to nobody.
    func writeError(_ line: String) {
        _ = Self.writeAll(line + "\n", to: errors)
    }

    private static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
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
