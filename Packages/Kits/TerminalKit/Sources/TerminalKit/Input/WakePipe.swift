import CTerminalKit
import Glibc

/// A pipe by which another thread, or a signal handler, ends the wait for a key; closes itself with the last user.
final class WakePipe: Sendable {
    enum Reason: UInt8 {
        case restored = 0
        case cancelled = 1
        case resized = 2
        case continued = 3
    }

    let readEnd: Int32
    let writeEnd: Int32

    init() throws(TerminalError) {
        var ends: (Int32, Int32) = (-1, -1)
        let error = unsafe martlet_wake_pipe(&ends.0, &ends.1)
        guard error == 0 else {
            throw TerminalError(.system, "cannot wait for the terminal: too many files are open", errno: error)
        }
        (readEnd, writeEnd) = ends
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func cancel() {
        var reason = Reason.cancelled.rawValue
        // A full pipe has woken the reader already.
        _ = unsafe write(writeEnd, &reason, 1)
    }

    /// Why the reader was woken.
    func reason() -> Reason? {
        var byte: UInt8 = 0
        return unsafe read(readEnd, &byte, 1) == 1 ? Reason(rawValue: byte) : nil
    }
}
