/// Lets so many work at once; the others wait in the order in which they came.
actor Slots {
    private var free: Int
    private var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var next = 0
    private var first = 0

    init(_ count: Int) {
        free = max(1, count)
    }

    /// Works when there is room. Throws when the task is cancelled before.
    nonisolated func withSlot<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await take()
        do {
            let value = try await work()
            await give()
            return value
        } catch {
            await give()
            throw error
        }
    }

    private func take() async throws {
        if free > 0 {
            free -= 1
            return
        }
        next += 1
        let id = next
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: false) }
                waiting.append((id, continuation))
            }
        } onCancel: {
            Task { await self.leave(id) }
        }
        guard isMine else { throw CancellationError() }
    }

    private func give() {
        guard first < waiting.count else {
            free += 1
            return
        }
        waiting[first].continuation.resume(returning: true)
        first += 1
        if first > 1_000, first * 2 > waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
    }

    private func leave(_ id: Int) {
        guard let place = waiting[first...].firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: place).continuation.resume(returning: false)
    }
}
