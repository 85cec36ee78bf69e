import Capabilities
import Synchronization

/// Messages in a stream of bytes.
///
/// One task reads, and takes everything that has come together. A message is written by its sender if the peer takes it
/// at once; the rest waits in a queue of limited size for the task that writes.
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
        var isClosed = false
    }

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
        defer { close() }
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
            try cutter.take(piece) { pass($0, to: receive) }
        }
        if let rest = cutter.takeRest() { pass(rest, to: receive) }
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
            if !outgoing.isBusy {
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
            outgoing.queue.append(bytes)
            outgoing.count += bytes.count - written
            if !outgoing.isBusy { outgoing.offset = written }
            outgoing.isBusy = true
            return true
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

    /// Writes what the peer takes at once; true if something is left.
    private func writeSome() throws -> Bool {
        try outgoing.withLock { outgoing in
            while outgoing.done < outgoing.queue.count {
                let bytes = outgoing.queue[outgoing.done]
                let written = try channel.writeNow(bytes, from: outgoing.offset)
                outgoing.offset += written
                outgoing.count -= written
                guard outgoing.offset == bytes.count else {
                    if written == 0 { return true }
                    continue
                }
                // Not kept until the queue is empty, since they may be large.
                outgoing.queue[outgoing.done] = []
                (outgoing.done, outgoing.offset) = (outgoing.done + 1, 0)
            }
            (outgoing.queue, outgoing.done, outgoing.isBusy) = ([], 0, false)
            return false
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
