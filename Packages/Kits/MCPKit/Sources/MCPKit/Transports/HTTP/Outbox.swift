import Capabilities
import RPCKit
import Synchronization

/// The messages that wait to be sent, and the room that those take which are being sent.
final class Outbox: Sendable {
    /// A message with its text.
    struct Item: Sendable {
        let message: RPCMessage
        let body: [UInt8]
    }

    private struct State {
        var count = 0
        var bytes = 0
        var isClosed = false
        var failure: (any Error)?
    }

    private let mostMessages: Int
    private let mostBytes: Int
    private let queue = Channel<Item>(limit: .max)
    private let state = Mutex(State())

    init(messages: Int, bytes: Int) {
        mostMessages = messages
        mostBytes = bytes
    }

    func add(_ message: RPCMessage) throws(RPCFailure) {
        let item = Item(message: message, body: message.bytes)
        try state.withLock { (state) throws(RPCFailure) in
            guard !state.isClosed else { throw RPCFailure(.closed, "the connection is closed") }
            guard state.count < mostMessages, state.bytes + item.body.count <= mostBytes || state.count == 0 else {
                throw RPCFailure(
                    .limit,
                    "the server is slow to take messages, and \(state.count) with \(ByteCount(state.bytes).words) wait; "
                        + "the limit is \(mostMessages) with \(ByteCount(mostBytes).words)")
            }
            state.count += 1
            state.bytes += item.body.count
        }
        queue.post([item])
    }

    /// The messages that wait, oldest first; nil at the end, and when the task is cancelled.
    func next() async -> [Item]? { await queue.next() }

    /// A message was sent, or given up.
    func done(_ item: Item) {
        state.withLock { state in
            state.count -= 1
            state.bytes -= item.body.count
        }
    }

    /// Takes no more messages. What waits is not sent any more.
    func close(because failure: (any Error)? = nil) {
        state.withLock { state in
            if !state.isClosed { state.failure = failure }
            state.isClosed = true
        }
        queue.abandon()
    }

    /// Why it was closed, unless that was wanted.
    var failure: (any Error)? { state.withLock { $0.failure } }
}
