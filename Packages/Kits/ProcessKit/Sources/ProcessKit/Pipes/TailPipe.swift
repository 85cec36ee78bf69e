import Glibc
import LoopKit
import Synchronization

/// What a child writes to standard error, read all the time so that it never waits; only the end is kept.
final class TailPipe: Sendable {
    private struct Tail {
        var bytes: [UInt8] = []
        let limit: Int
    }

    private let descriptor: LoopDescriptor
    private let tail: Mutex<Tail>

    init(_ descriptor: LoopDescriptor, limit: Int) {
        self.descriptor = descriptor
        tail = Mutex(Tail(limit: limit))
    }

    /// Reads until the child's end or `close`.
    func drain() async {
        while true {
            switch readOnce() {
            case .moved(let count): if count == 0 { return }
            case .wouldBlock: guard await descriptor.readyThroughCancellation(.readable) == .ready else { return }
            case .failed, .closed: return
            }
        }
    }

    /// The last bytes written, including those still in the pipe.
    func bytes() -> [UInt8] {
        // Bounded, so that a child that keeps writing cannot keep this loop going.
        var left = 1 << 20
        while left > 0, case .moved(let count) = readOnce(), count > 0 { left -= count }
        return tail.withLock { $0.bytes.suffix($0.limit) }
    }

    /// Keeps what is in the pipe and ends `drain`, also when a process that escaped still holds the other end.
    func close() {
        _ = bytes()
        descriptor.close()
    }

    private func readOnce() -> LoopDescriptor.Attempt {
        tail.withLock { tail in
            descriptor.attempt(.readable) { descriptor in
                var result = 0
                tail.bytes.append(addingCapacity: 1 << 14) { (free: inout OutputSpan<UInt8>) in
                    unsafe free.withUnsafeMutableBufferPointer { buffer, filled in
                        unsafe result = read(descriptor, buffer.baseAddress, 1 << 14)
                        filled = max(result, 0)
                    }
                }
                // Cut only at twice the limit, so that the bytes kept are not moved for every read.
                if tail.bytes.count > 2 * tail.limit { tail.bytes.removeFirst(tail.bytes.count - tail.limit) }
                return result
            }
        }
    }
}
