import Synchronization

/// A latch that opens once; any number of tasks may wait for it.
final class Latch: Sendable {
    private enum State {
        case closed([Int: CheckedContinuation<Bool, Never>])
        case open
    }

    private let state = Mutex((state: State.closed([:]), next: 0))

    func open() {
        let waiting = state.withLock { contents -> [CheckedContinuation<Bool, Never>] in
            guard case .closed(let waiting) = contents.state else { return [] }
            contents.state = .open
            return Array(waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: true) }
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
        let id = state.withLock { contents in
            contents.next += 1
            return contents.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { contents -> Bool? in
                    guard case .closed(var waiting) = contents.state else { return true }
                    if Task.isCancelled { return false }
                    waiting[id] = continuation
                    contents.state = .closed(waiting)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { contents -> CheckedContinuation<Bool, Never>? in
                guard case .closed(var waiting) = contents.state else { return nil }
                let continuation = waiting.removeValue(forKey: id)
                contents.state = .closed(waiting)
                return continuation
            }
            continuation?.resume(returning: false)
        }
    }
}
