import Capabilities
import Synchronization

/// Messages in a stream of bytes.
///
/// One task reads, and takes everything that has come together. A message is written by its sender if the peer takes it
/// at once; the rest waits in a queue of limited size for the task that writes. While many messages come together, those
/// that are sent are written together too, which saves both sides most of their work.
public final class StreamTransport: RPCTransport {
    /// What may be held for one connection.
    public struct Limits: Sendable, Hashable {
        /// The largest message in bytes. A longer one is skipped, and fails the call that it answers.
        public var message: Int
        /// How many bytes may wait to be written.
        public var outgoing: Int

        /// The program uses the defaults.
        public init(message: Int = 16 << 20, outgoing: Int = 64 << 20) {
            self.message = message
            self.outgoing = outgoing
        }
    }

    private struct Outgoing {
        /// What waits, oldest first.
        var queue: [[UInt8]] = []
        /// The number of messages of the queue that are written whole.
        var done = 0
        /// How much of the next one is written.
        var offset = 0
        /// The bytes of the queue that are not written.
        var count = 0
        /// Whether the task that writes has the turn.
        var isBusy = false
        /// Whether senders leave everything to that task.
        var gathers = false
        var isClosed = false

        /// Appends a message of which some is written already.
        mutating func add(_ bytes: [UInt8], written: Int) {
            count += bytes.count - written
            let last = queue.count - 1
            if last >= done, queue[last].count + bytes.count <= StreamTransport.piece {
                queue[last] += bytes
            } else {
                queue.append(bytes)
            }
            if !isBusy { offset = written }
            isBusy = true
        }

        /// What is to be written next, and from where on; nil if nothing is, which ends the turn.
        mutating func next() -> (bytes: [UInt8], offset: Int)? {
            if done < queue.count { return (queue[done], offset) }
            (queue, done, isBusy) = ([], 0, false)
            return nil
        }

        mutating func advance(by written: Int) {
            // Nothing is left of a connection that was closed meanwhile.
            guard done < queue.count else { return }
            offset += written
            count -= written
            guard offset == queue[done].count else { return }
            // Not kept until the queue is empty, since they may be large.
            queue[done] = []
            (done, offset) = (done + 1, 0)
        }
    }

    /// Messages are joined up to this size.
    private static let piece = 1 << 16
    /// What is larger than this is cut and read on the shared threads.
    private static let small = 1 << 14
    /// So many messages at once are a sign that there are many senders.
    private static let burst = 4

    private let channel: any ByteChannel
    private let framing: RPCFraming
    private let limits: Limits
    private let outgoing = Mutex(Outgoing())
    private let news = Signal()
    private let closing = Promise<Void>()

    /// Messages over a channel, which ends with the transport.
    public init(_ channel: any ByteChannel, framing: RPCFraming = .lines, limits: Limits = Limits()) {
        self.channel = channel
        self.framing = framing
        self.limits = limits
    }

    public func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        defer {
            flush()
            close()
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.writeRest()
                return false
            }
            group.addTask {
                try await self.read(receive)
                return true
            }
            // A peer that was told to end need not close its side.
            group.addTask {
                try await self.closing.value()
                return true
            }
            defer { group.cancelAll() }
            while let isOver = try await group.next(), !isOver {}
        }
    }

    // MARK: Reading

    private func read(_ receive: (RPCEvent) -> Void) async throws {
        var cutter = FrameCutter(framing, limit: limits.message)
        while let piece = try await channel.read() {
            // The thread may read for others too, so that it does itself only what takes no time.
            if piece.count + cutter.count <= Self.small {
                try take(piece, &cutter, receive)
            } else {
                try await withTaskExecutorPreference(globalConcurrentExecutor) { try take(piece, &cutter, receive) }
            }
        }
        if let rest = cutter.takeRest() { pass(rest, to: receive) }
    }

    private func take(_ piece: [UInt8], _ cutter: inout FrameCutter, _ receive: (RPCEvent) -> Void) throws(RPCFailure) {
        var frames = 0
        defer {
            let gathers = frames >= Self.burst
            outgoing.withLock { $0.gathers = gathers }
        }
        try cutter.take(piece) { frame in
            frames += 1
            pass(frame, to: receive)
        }
    }

    private func pass(_ frame: FrameCutter.Frame, to receive: (RPCEvent) -> Void) {
        switch frame {
        case .message(let bytes):
            for part in RPCBody(bytes).parts {
                switch part {
                case .message(let message): receive(.message(message))
                case .malformed(let malformed): receive(.malformed(malformed))
                }
            }
        case .tooLong(let start):
            let failure = RPCFailure(
                .limit, "a message of the other side is larger than the limit of \(ByteCount(limits.message).words)")
            receive(.failed(RPCID(beginningOf: start), failure))
        }
    }

    // MARK: Writing

    public func send(_ message: RPCMessage) throws(RPCFailure) {
        var bytes: [UInt8] = []
        switch framing {
        case .lines:
            message.write(into: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        case .contentLength:
            let body = message.bytes
            bytes = Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        let waits = try outgoing.withLock { (outgoing) throws(RPCFailure) -> Bool in
            guard !outgoing.isClosed else { throw RPCFailure(.closed, "the connection is closed") }
            var written = 0
            if !outgoing.isBusy, !outgoing.gathers {
                do { written = try channel.writeNow(bytes, from: 0) } catch {
                    throw error as? RPCFailure ?? RPCFailure(.closed, AnyFailure(error).message)
                }
                if written == bytes.count { return false }
            }
            guard outgoing.count + bytes.count - written <= limits.outgoing || written > 0 else {
                throw RPCFailure(
                    .limit,
                    "the other side does not read, and \(ByteCount(limits.outgoing).words) for it wait already, which is the limit"
                )
            }
            defer { outgoing.add(bytes, written: written) }
            // The task that writes takes everything once it is awake.
            return !outgoing.isBusy
        }
        if waits { news.raise() }
    }

    /// Writes what its senders could not. A message that was begun is always finished, whatever becomes of its sender.
    private func writeRest() async throws {
        var seen = 0
        while true {
            do {
                while try writeSome() { try await channel.waitUntilWritable() }
            } catch let error where !(error is CancellationError) {
                // A peer that no longer reads may still write, such as the answer to the last request.
                outgoing.withLock { $0.isClosed = true }
                return
            }
            seen = try await news.wait(beyond: seen)
        }
    }

    /// Writes what the peer takes at once; true if something is left. Only the task that has the turn is here, so that
    /// senders need not wait for the system.
    private func writeSome() throws -> Bool {
        while let (bytes, offset) = outgoing.withLock({ $0.next() }) {
            let written = try channel.writeNow(bytes, from: offset)
            outgoing.withLock { $0.advance(by: written) }
            if written == 0 { return true }
        }
        return false
    }

    /// Writes what was gathered before the end of the peer's messages, as far as the peer takes it at once.
    private func flush() {
        do { _ = try writeSome() } catch {
            // The peer is gone.
        }
    }

    public func close() {
        outgoing.withLock { outgoing in
            outgoing.isClosed = true
            (outgoing.queue, outgoing.done, outgoing.offset, outgoing.count) = ([], 0, 0, 0)
        }
        channel.close()
        closing.settle(())
    }
}
