import Capabilities

/// A latch that opens once; any number of tasks may wait for it.
struct Latch: Sendable {
    private let opened = Promise<Void>()

    func open() {
        opened.settle(())
    }

    /// Waits until it is open; false if the limit passes or the waiting task is cancelled.
    func wait(atMost limit: Duration, clock: any Clock<Duration>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                do { try await clock.sleep(for: limit) } catch { return false }
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }

    /// Waits until it is open; false if the waiting task is cancelled.
    func wait() async -> Bool {
        do { try await opened.value() } catch { return false }
        return true
    }
}
