import Capabilities

/// A latch that opens once; any number of tasks may wait for it.
struct Latch: Sendable {
    private let opened = Promise<Void>()

    func open() {
        opened.settle(())
    }

    /// Waits until it is open; false if the limit passes or the waiting task is cancelled.
    func wait(atMost limit: Duration, clock: any Clock<Duration>) async -> Bool {
        do { return try await withTimeLimit(limit, on: clock) { try await opened.value() } != nil } catch {
            return false
        }
    }

    /// Waits until it is open; false if the waiting task is cancelled.
    func wait() async -> Bool {
        do { try await opened.value() } catch { return false }
        return true
    }
}
