import GatewayTurns

/// How a turn began: all that was told before the head of its answer was written.
struct Opening: Sendable {
    private(set) var events: [GatewayEvent] = []
    private(set) var isEnded = false

    /// Waits until there is something to tell, and a while at most: until then a failure is an answer with a status of
    /// its own, and afterwards a frame in a stream that seemed well.
    init(of turn: OpenTurn, within patience: Duration) async throws {
        let end = ContinuousClock.now + patience
        // That it began is there at once; only what comes then has to be waited for.
        await take(from: turn)
        while !isEnded, !hasContent, await Self.isReady(turn, before: end) { await take(from: turn) }
        try Task.checkCancellation()
    }

    private mutating func take(from turn: OpenTurn) async {
        if let more = await turn.next() { events += more } else { isEnded = true }
    }

    /// Whether there is more to tell than that it began.
    var hasContent: Bool {
        events.contains { if case .began = $0 { false } else { true } }
    }

    private static func isReady(_ turn: OpenTurn, before end: ContinuousClock.Instant) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
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
