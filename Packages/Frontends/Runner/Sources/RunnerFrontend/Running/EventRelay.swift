import Runs
import Synchronization

/// Hands the events of a run to whoever reads them, as many at a time as have come, so that no step waits for a reader
/// who keeps up. One who does not makes the run wait, for only so many are held.
final class EventRelay: Sendable {
    private struct State {
        var events: [RunEvent] = []
        var isEnded = false
        var reader: CheckedContinuation<Void, Never>?
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = 256) {
        self.limit = limit
    }

    /// Adds an event, and waits while there are too many. After the end nobody is told any more.
    func put(_ event: RunEvent) async {
        let (isFull, reader) = state.withLock { state in
            if state.isEnded { return (false, nil as CheckedContinuation<Void, Never>?) }
            state.events.append(event)
            return (state.events.count >= limit, exchange(&state.reader, with: nil))
        }
        reader?.resume()
        guard isFull else { return }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.events.count >= limit { state.writers.append(continuation) }
                return state.events.count < limit
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// No more events come.
    func end() {
        let reader = state.withLock { state in
            state.isEnded = true
            return exchange(&state.reader, with: nil)
        }
        reader?.resume()
    }

    /// How long a reader of many events lets more of them come together.
    private static let gathering = Duration.milliseconds(2)

    /// Gives the events to `receive` in their order until the end.
    func run(_ receive: ([RunEvent]) async -> Void) async {
        var count = 0
        while let events = await next() {
            await receive(events)
            count += events.count
            // To be woken for each event of a long run costs more than most of its steps. A short run is not held up.
            guard count > limit else { continue }
            do { try await ContinuousClock().sleep(for: Self.gathering) } catch {
                // Cancelled, which the end of the run tells as well.
            }
        }
    }

    /// Those that are there, or come next; nil after the last.
    private func next() async -> [RunEvent]? {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.events.isEmpty, !state.isEnded { state.reader = continuation }
                return state.reader == nil
            }
            if isReady { continuation.resume() }
        }
        let (events, writers) = state.withLock { state in
            defer { (state.events, state.writers) = ([], []) }
            return (state.events, state.writers)
        }
        for writer in writers { writer.resume() }
        return events.isEmpty ? nil : events
    }
}
