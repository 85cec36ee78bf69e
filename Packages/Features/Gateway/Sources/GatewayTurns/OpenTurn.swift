/// A turn or a completion that has been accepted and runs, with what it tells.
///
/// Whoever holds it is the client: it ends as `leave` says when the last reference goes without its end.
public final class OpenTurn: Sendable {
    public let place: TurnPlace
    let turn: RunningTurn
    private let keepsRunning: Bool

    init(_ turn: RunningTurn, place: TurnPlace, keepsRunning: Bool) {
        self.turn = turn
        self.place = place
        self.keepsRunning = keepsRunning
    }

    /// What has happened since the last time, for one reader; while nobody reads, the turn gets only a little ahead. Nil
    /// after the last event, and when the reading task is cancelled.
    public func next() async -> [GatewayEvent]? { await turn.control.feed.next() }

    /// Waits until `next` would give something at once; also returns when the waiting task is cancelled.
    public func ready() async { await turn.control.feed.ready() }

    /// What came of it, when it has ended. A reader has to have read to the end, or the turn may wait for it.
    public func report() async throws -> TurnReport { try await turn.task.value.get() }

    /// The client has vanished: the turn is ended, and this returns when it is stored; or it goes on without a reader, where
    /// the input or the settings say so.
    public func leave() async {
        abandon()
        if !keepsRunning { _ = await turn.task.value }
    }

    private func abandon() {
        turn.control.feed.abandon()
        if !keepsRunning { turn.control.stop(.vanished) }
    }

    deinit { abandon() }
}
