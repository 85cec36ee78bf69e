/// Where the events of a turn go.
struct EventSink: Sendable {
    let emit: TurnLoop.Emit

    /// Hands over what must not get lost, even where the turn has been cancelled: the reader that stores a message would
    /// be cancelled with it. The task is awaited here, so that nothing outlives the turn.
    func deliver(_ events: [TurnEvent]) async throws {
        guard !events.isEmpty else { return }
        try await Task { try await emit(events) }.value
    }

    /// Shows what a tool prints. Output that nobody can take any more is no reason to end the tool: its result has it again,
    /// and the next event that counts ends the turn.
    func tell(_ call: String, _ text: String) async {
        do { try await deliver([.output(call: call, text: text)]) } catch {}
    }
}
