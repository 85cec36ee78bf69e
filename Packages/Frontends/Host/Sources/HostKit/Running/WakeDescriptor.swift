import Capabilities
import Glibc

/// A pipe by which any thread wakes the main loop.
struct WakeDescriptor: ~Copyable, Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// Nil when too many files are open.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Wakes the loop; a pipe that is full already does.
    func notify() {
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Waits for `notify`, for the other descriptor or for the moment, whichever comes first.
    func wait(orReadable other: Int32, until deadline: ContinuousClock.Instant?) {
        var descriptors = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        let limit = deadline.map { max(0, ContinuousClock.now.duration(to: $0).milliseconds + 1) } ?? -1
        _ = unsafe poll(&descriptors, 2, Int32(clamping: limit))
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        _ = unsafe read(readEnd, &bytes, bytes.count)
    }
}
