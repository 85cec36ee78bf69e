import Glibc
import LoopKit
import Synchronization

/// The output of a child. Nothing is read before it is requested, so a child that is ahead of its reader has to wait.
///
/// Any number of tasks may read; each chunk or line goes to one of them. Available data is returned without a change of
/// threads.
public final class OutputPipe: Sendable {
    private let descriptor: LoopDescriptor
    private let buffer = Mutex(LineBuffer())

    init(_ descriptor: LoopDescriptor) {
        self.descriptor = descriptor
    }

    /// The next available bytes, at most 64 KiB, or nil at the end.
    ///
    /// Throws `.timedOut` when there are none by the deadline.
    public nonisolated(nonsending) func read(until deadline: ContinuousClock.Instant? = nil) async throws -> [UInt8]? {
        while true {
            if let bytes = buffer.withLock({ $0.takeAll() }) { return bytes }
            guard try await fill(until: deadline) else { return buffer.withLock { $0.takeAll() } }
        }
    }

    /// The next line without its newline, or nil at the end. Text after the last newline is a line too.
    ///
    /// Throws `.lineTooLong` past `limit` bytes, `.timedOut` when the line is not complete by the deadline, and
    /// `CancellationError`. None of these loses data. `skipLine` skips a line that is too long.
    public nonisolated(nonsending) func nextLine(
        limit: Int = 1 << 20, until deadline: ContinuousClock.Instant? = nil
    ) async throws -> [UInt8]? {
        while true {
            if let line = try buffer.withLock({ (buffer) throws(ProcessError) in try buffer.takeLine(limit: limit) }) {
                return line
            }
            guard try await fill(until: deadline) else { return buffer.withLock { $0.takeAll() } }
        }
    }

    /// Skips to the end of the line, however long it is. False when the output ends before that. Throws as `nextLine`
    /// does, and continues at the next call.
    @discardableResult
    public nonisolated(nonsending) func skipLine(until deadline: ContinuousClock.Instant? = nil) async throws -> Bool {
        while !buffer.withLock({ $0.skipLine() }) {
            guard try await fill(until: deadline) else { return false }
        }
        return true
    }

    /// The lines to the end, each of `limit` bytes at most.
    public func lines(limit: Int = 1 << 20) -> Lines {
        Lines(pipe: self, limit: limit)
    }

    /// The sequence of `lines`. Every iterator continues where the last reader stopped.
    public struct Lines: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let pipe: OutputPipe
        let limit: Int

        /// This sequence itself.
        public func makeAsyncIterator() -> Lines { self }

        /// The next line without its newline, or nil at the end.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [UInt8]? {
            try await pipe.nextLine(limit: limit)
        }
    }

    /// Reads once, waiting for something to read; false at the end.
    private nonisolated(nonsending) func fill(until deadline: ContinuousClock.Instant? = nil) async throws -> Bool {
        while true {
            // Also when the child writes so fast that there is never a wait.
            if let deadline, deadline <= .now { throw Self.late }
            switch readOnce() {
            case .moved(let count): return count > 0
            case .wouldBlock:
                switch try await descriptor.readable(until: deadline) {
                case .ready: continue
                case .closed: return false
                case .timedOut: throw Self.late
                }
            case .failed(let number): throw ProcessError.system("read from a child process", errno: number)
            case .closed: return false
            }
        }
    }

    private static var late: ProcessError {
        ProcessError(.timedOut, "a child process did not write the expected output in time")
    }

    private func readOnce() -> LoopDescriptor.Attempt {
        buffer.withLock { buffer in descriptor.attempt(.readable) { buffer.readOnce($0) } }
    }

    func close() {
        descriptor.close()
    }
}

extension OutputPipe {
    /// Reads to the end, keeping everything for `takeRest`; more than `limit` bytes is an error.
    nonisolated(nonsending) func collect(limit: Int) async throws {
        while try await fill() { try check(limit) }
    }

    /// The collected output, and the data that an ended child left in the pipe.
    func takeRest(limit: Int) throws(ProcessError) -> [UInt8] {
        // No pipe of an ordinary user holds more, so a survivor that keeps writing cannot keep this loop running.
        var left = 1 << 20
        while left > 0, case .moved(let count) = readOnce(), count > 0 {
            left -= count
            try check(limit)
        }
        // The collecting task may have been ended between reading the last bytes and counting them.
        try check(limit)
        return buffer.withLock { $0.takeAll() } ?? []
    }

    private func check(_ limit: Int) throws(ProcessError) {
        guard buffer.withLock({ $0.count }) <= limit else {
            throw ProcessError(.outputTooLarge, "a child process wrote more than the limit of \(limit) bytes")
        }
    }
}

/// The standard error of a child, read all the time so that it never waits. Only the end is kept.
final class TailPipe: Sendable {
    private struct Tail {
        var bytes: [UInt8] = []
        /// How many bytes have come, also those that are no longer kept.
        var count = 0
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
        // Bounded, so that a child that keeps writing cannot keep this loop running.
        var left = 1 << 20
        while left > 0, case .moved(let count) = readOnce(), count > 0 { left -= count }
        return tail.withLock { $0.bytes.suffix($0.limit) }
    }

    /// How many bytes were read so far.
    var count: Int { tail.withLock { $0.count } }

    /// The last bytes written after the first `count`.
    func bytes(after count: Int) -> [UInt8] {
        let bytes = bytes()
        return bytes.suffix(max(0, tail.withLock { $0.count } - count))
    }

    /// Keeps the content of the pipe and ends `drain`, even when an escaped process still has the other end.
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
                tail.count += max(result, 0)
                // The room is not kept while nothing comes.
                if tail.bytes.isEmpty { tail.bytes = [] }
                // Cut only at twice the limit, so that the bytes kept are not moved for every read.
                if tail.bytes.count > 2 * tail.limit { tail.bytes.removeFirst(tail.bytes.count - tail.limit) }
                return result
            }
        }
    }
}

/// Bytes read and not yet taken, cut into lines on demand.
struct LineBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    // Where the search for a newline continues, so that a long line is not searched again for each part.
    private var searched = 0

    var count: Int { bytes.count - start }

    /// Makes one read of at most 64 KiB; the result is that of `read`.
    mutating func readOnce(_ descriptor: Int32) -> Int {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            (start, searched) = (0, 0)
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            (start, searched) = (0, searched - start)
        }
        var result = 0
        bytes.append(addingCapacity: 1 << 16) { (free: inout OutputSpan<UInt8>) in
            unsafe free.withUnsafeMutableBufferPointer { buffer, filled in
                unsafe result = read(descriptor, buffer.baseAddress, 1 << 16)
                filled = max(result, 0)
            }
        }
        // The room is not kept while nothing comes.
        if bytes.isEmpty { bytes = [] }
        return result
    }

    /// The next whole line without its newline, or nil when none is complete yet.
    mutating func takeLine(limit: Int) throws(ProcessError) -> [UInt8]? {
        let newline = unsafe bytes.withUnsafeBufferPointer { buffer -> Int? in
            guard let base = buffer.baseAddress,
                let found = unsafe memchr(base + searched, 0x0A, buffer.count - searched)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
        guard (newline ?? bytes.count) - start <= limit else {
            throw ProcessError(.lineTooLong, "a child process wrote a line longer than the limit of \(limit) bytes")
        }
        guard let newline else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (newline + 1, newline + 1) }
        return Array(bytes[start..<newline])
    }

    /// Discards the buffered part of a line. Returns whether that was all of it.
    mutating func skipLine() -> Bool {
        let newline = bytes[max(start, searched)...].firstIndex(of: 0x0A)
        start = newline.map { $0 + 1 } ?? bytes.count
        searched = start
        return newline != nil
    }

    /// Everything in the buffer, or nil when it is empty.
    mutating func takeAll() -> [UInt8]? {
        guard count > 0 else { return nil }
        defer { (bytes, start, searched) = ([], 0, 0) }
        return start == 0 ? bytes : Array(bytes[start...])
    }
}
