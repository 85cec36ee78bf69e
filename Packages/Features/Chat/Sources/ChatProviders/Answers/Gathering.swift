/// Lets pieces of an answer gather that come faster than anybody can see.
///
/// Each time a waiting task is given a few bytes, two threads change places, which costs more than reading them. So when
/// a handful of events follows the one before within a millisecond, the next ones are looked for some milliseconds
/// later. Slower streams, and those so fast that there is always much to read, never wait.
struct Gathering {
    private static let quick: Duration = .milliseconds(1)
    private static let pause: Duration = .milliseconds(5)
    private static let handful = 32

    private var last: ContinuousClock.Instant?

    /// To be called when so many events have been read and passed on. Throws when the task is cancelled.
    mutating func pause(after events: Int) async throws {
        if isDue(after: events, at: .now) { try await Task.sleep(for: Self.pause) }
    }

    mutating func isDue(after events: Int, at now: ContinuousClock.Instant) -> Bool {
        defer { last = now }
        guard events < Self.handful, let last else { return false }
        return now - last < Self.quick
    }
}
