import Capabilities
import Glibc
import Synchronization

/// A file that grows by whole lines.
final class LineFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let failure = Mutex<Int32>(0)

    /// - Parameter isNew: empties it first.
    init(_ path: String, isNew: Bool) throws(RunnerError) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (isNew ? O_TRUNC : 0)
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
    }

    deinit { close(descriptor) }

    /// Adds text, which ends with a line. The first failure is kept, and nothing is written after it.
    func write(_ text: String) {
        failure.withLock { failure in
            guard failure == 0 else { return }
            var text = text
            failure = text.withUTF8 { bytes in
                var done = 0
                while done < bytes.count {
                    let count = unsafe Glibc.write(
                        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                    if count > 0 { done += count } else if errno != EINTR { return errno }
                }
                return 0
            }
        }
    }

    /// Throws when something could not be written.
    func check() throws(RunnerError) {
        let failure = failure.withLock { $0 }
        if failure != 0 { throw Self.error(path, failure) }
    }

    private static func error(_ path: String, _ number: Int32) -> RunnerError {
        .file(
            "cannot write \(PlainText.escape(path)): \(SystemError(number).description.lowercased())")
    }
}
