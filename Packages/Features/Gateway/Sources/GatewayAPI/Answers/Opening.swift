import Capabilities
import GatewayTurns

/// How a turn began: all that was told before the head of its answer was written.
struct Opening: Sendable {
    private(set) var events: [GatewayEvent] = []
    private(set) var isEnded = false

    /// Waits until there is something to tell, and a while at most: until then a failure is an answer with a status of
    /// its own, and afterwards a frame in a stream that seemed well.
    ///
    /// - Parameter waitsForServer: Whether the while begins only when the server has begun to answer, so that what it
    ///   refuses is never a stream.
    init(of turn: OpenTurn, within patience: Duration, waitsForServer: Bool) async throws {
        var end = waitsForServer ? nil : ContinuousClock.now + patience
        // That it began is there at once; only what comes then has to be waited for.
        await take(from: turn)
        while !isEnded, !hasContent {
            if end == nil, hasServerBegun { end = .now + patience }
            guard await Self.isReady(turn, before: end) else { break }
            await take(from: turn)
        }
        try Task.checkCancellation()
    }

    private var hasServerBegun: Bool {
        events.contains { if case .chat(.notice) = $0 { false } else if case .chat = $0 { true } else { false } }
    }

    private mutating func take(from turn: OpenTurn) async {
        if let more = await turn.next() { events += more } else { isEnded = true }
    }

    /// Whether a word of the answer is there, or of what is done for it. What is only about it is none.
    var hasContent: Bool {
        events.contains { event in
            switch event {
            case .began, .notice, .chat(.began), .chat(.usage), .chat(.notice): false
            default: true
            }
        }
    }

    private static func isReady(_ turn: OpenTurn, before end: ContinuousClock.Instant?) async -> Bool {
        guard let end else {
            await turn.ready()
            return !Task.isCancelled
        }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await turn.ready()
                return true
            }
            group.addTask {
                // Cancelled as soon as something is there; nothing else can be learned from it.
                do { try await Task.sleep(until: end) } catch { return false }
                return false
            }
            let isReady = await group.next() ?? false
            group.cancelAll()
            return isReady
        }
    }
}
