/// A turn or a completion that has been accepted and runs, with what it tells.
///
/// Whoever holds it is the client: it ends as `leave` says when the last reference goes without its end.
public final class OpenTurn: Sendable {
    public let place: TurnPlace
    /// What of the request the model was not given, as its server has no words for it.
    public let dropped: [String]
    let turn: RunningTurn
    private let keepsRunning: Bool

    init(_ turn: RunningTurn, place: TurnPlace, dropped: [String] = [], keepsRunning: Bool) {
        self.dropped = dropped
        self.turn = turn
        self.place = place
        self.keepsRunning = keepsRunning
    }

    /// What has happened since the last time, for one reader; while nobody reads, the turn gets only a little ahead. Nil
    /// after the last event, and when the reading task is cancelled.
    public func next() async -> [GatewayEvent]? { await turn.control.feed.next() }

    /// Waits until `next` would give something at once. False when it would not: the waiting task was cancelled, or
    /// somebody called `nudge`.
    @discardableResult
    public func ready() async -> Bool { await turn.control.feed.ready() }

    /// Lets the one who waits in `ready`, or the next who does, go on without anything to read.
    public func nudge() { turn.control.feed.nudge() }

    /// Hands everything from here on to `take`, in order, and returns after the last event, or when the reading task is
    /// cancelled.
    ///
    /// `take` is called where an event comes into being, in any task and under a lock, so that a reader need not wake for
    /// each: it must not wait. Where it gives false, `room` is called and the turn gets only a little ahead until that
    /// returns. What either throws is thrown here.
    public func forward(
        to take: @escaping @Sendable ([GatewayEvent]) throws -> Bool, room: () async throws -> Void = {}
    ) async throws {
        try await turn.control.feed.forward(to: take, room: room)
    }

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
