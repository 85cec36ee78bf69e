import Capabilities
import RPCKit
import Synchronization

/// The messages that go to a client in one HTTP response, numbered from 1. They are kept for a while after they were
/// written, for a client that lost the connection and comes back.
final class ServerStream: Sendable {
    /// A message as it is written.
    struct Event: Sendable {
        let number: Int
        let bytes: [UInt8]
        let kind: Kind
    }

    enum Kind: Sendable, Hashable {
        /// A notification, which may be lost if the client does not read.
        case notice
        /// A request of the server.
        case request
        /// The answer to a request of the client, with its error code if it is one.
        case answer(code: Int?)
    }

    /// A client came back for messages that are not kept any more, or did not read for too long.
    struct Gap: Error {}

    private struct State {
        /// What is kept, oldest first.
        var events: [Event] = []
        /// The number of the next event.
        var next = 1
        /// The last event that was written.
        var written = 0
        var bytes = 0
        var isFinished = false
        /// The reader that has the stream. Another one takes it over.
        var turn = 0

        /// The number of the oldest event that is kept.
        var first: Int { next - events.count }

        /// The events that are kept, from the one after this number on.
        func events(after number: Int) -> ArraySlice<Event> {
            events[max(0, min(number + 1 - first, events.count))...]
        }
    }

    /// How many notices may wait, and how many written events are kept.
    private static let mostEvents = 1_000

    /// Its number in its session.
    let number: Int
    private let mostBytes: Int
    private let state = Mutex(State())
    private let news = Signal()

    /// - Parameter kept: how many bytes that were written are kept; as many notices may wait.
    init(number: Int = 0, keeping kept: Int) {
        self.number = number
        mostBytes = kept
    }

    // MARK: Writing

    /// Adds a message. A notice is left out if too much waits, and one of a change if the same one waits already.
    func append(_ message: RPCMessage) {
        let bytes = message.bytes
        var isChange = false
        let kind: Kind
        switch message {
        case .notification(let notification):
            kind = .notice
            isChange = MCPChange(notification.method, notification.params) != nil
        case .request: kind = .request
        case .response(let response): kind = .answer(code: response.code)
        }
        let isNews = state.withLock { [isChange] state in
            guard !state.isFinished else { return false }
            if kind == .notice {
                let waiting = state.events(after: state.written)
                guard waiting.count < Self.mostEvents, state.bytes < 2 * mostBytes,
                    !isChange || !waiting.contains(where: { $0.bytes == bytes })
                else { return false }
            }
            state.events.append(Event(number: state.next, bytes: bytes, kind: kind))
            state.next += 1
            state.bytes += bytes.count
            trim(&state)
            return true
        }
        if isNews { news.raise() }
    }

    /// Nothing more comes.
    func finish() {
        state.withLock { $0.isFinished = true }
        news.raise()
    }

    var isFinished: Bool { state.withLock { $0.isFinished } }
    /// The bytes that are kept.
    var size: Int { state.withLock { $0.bytes } }
    /// Whether a client that has read up to this event can go on, because something follows or may follow.
    func goesOn(after number: Int) -> Bool {
        state.withLock { state in
            state.first...state.next ~= number + 1 && !(state.isFinished && number + 1 == state.next)
        }
    }

    /// The last event that was written.
    var written: Int { state.withLock { $0.written } }

    /// Drops what was written and is too much.
    private func trim(_ state: inout State) {
        while let first = state.events.first, first.number <= state.written,
            state.events.count > Self.mostEvents || state.bytes > mostBytes
        {
            state.bytes -= first.bytes.count
            state.events.removeFirst()
        }
    }

    // MARK: Reading

    /// Waits for the first event; nil if the stream ends without one.
    func first() async throws -> Event? {
        while true {
            let seen = news.count
            let (event, isFinished) = state.withLock { ($0.events.first, $0.isFinished) }
            if event != nil || isFinished { return event }
            try await news.wait(beyond: seen)
        }
    }

    /// Waits for the answer to the only request of the stream; nil if it ends without one.
    func answer() async throws -> Event? {
        while true {
            let seen = news.count
            let (event, isFinished) = state.withLock { ($0.events.last, $0.isFinished) }
            if isFinished { return event }
            try await news.wait(beyond: seen)
        }
    }

    /// Passes on the events after this number, those that come together at once, until the stream ends or another reader
    /// takes it over.
    ///
    /// - Throws: `Gap` if some of them are not kept any more, and what `send` throws.
    func play(after number: Int, _ send: ([Event]) async throws -> Void) async throws {
        let turn = state.withLock { state in
            state.turn += 1
            return state.turn
        }
        // Wakes the reader that had it before.
        news.raise()
        var last = number
        while true {
            let seen = news.count
            let (events, isOver) = try state.withLock { state throws(Gap) -> ([Event], Bool) in
                guard state.turn == turn else { return ([], true) }
                guard state.first...state.next ~= last + 1 else { throw Gap() }
                let events = Array(state.events(after: last))
                return (events, events.isEmpty && state.isFinished)
            }
            if isOver { return }
            guard let newest = events.last else {
                try await news.wait(beyond: seen)
                continue
            }
            try await send(events)
            last = newest.number
            state.withLock { state in
                state.written = max(state.written, last)
                trim(&state)
            }
        }
    }
}

extension RPCResponse {
    /// The code of an error; nil for a result.
    var code: Int? {
        if case .failure(let error) = result { return error.code }
        return nil
    }
}
