import Capabilities
import GatewayTurns

/// How a turn began: all that was told before the head of its answer was written.
struct Opening: Sendable {
    private(set) var events: [GatewayEvent] = []
    private(set) var isEnded = false

    /// Waits until there is something to tell, and a while at most: until then a failure is an answer with a status of
    /// its own, and afterwards a frame in a stream that seemed well.
    ///
    /// - Parameters:
    ///   - patience: Rings when the while is over. One for all turns, because a sleep that is cut short keeps its memory
    ///     until its time has come.
    ///   - waitsForServer: Whether the while begins only when the server has begun to answer, so that what it refuses is
    ///     never a stream.
    init(of turn: OpenTurn, within patience: Alarms, waitsForServer: Bool) async throws {
        var alarm: Int?
        defer { if let alarm { patience.cancel(alarm) } }
        // That it began is there at once; only what comes then has to be waited for.
        await take(from: turn)
        while !isEnded, !hasContent {
            if alarm == nil, !waitsForServer || hasServerBegun { alarm = patience.set { turn.nudge() } }
            guard await turn.ready() else { break }
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
            case .began, .answers, .notice, .chat(.began), .chat(.usage), .chat(.notice): false
            default: true
            }
        }
    }
}
