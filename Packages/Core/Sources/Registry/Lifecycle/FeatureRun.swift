import Capabilities
import Synchronization

/// One feature's background work: the task that lasts until it is stopped. `Lifecycle` owns it.
final class FeatureRun: Sendable {
    private let id: String
    private let states: FeatureStates
    private let task: Task<Void, Never>
    private let started: Latch
    private let ended: Latch

    init(id: String, feature: any RunningFeature, host: Host, registry: Registry, states: FeatureStates) {
        self.id = id
        self.states = states
        let started = Latch()
        let ended = Latch()
        self.started = started
        self.ended = ended
        states.set(id, .starting)
        task = Task {
            let view = FeatureHost(host: host, registry: registry) { health in
                states.change(id) { $0.after(health) }
                started.open()
            }
            do {
                try await feature.run(in: view)
                states.change(id) { $0 == .starting ? .ok : nil }
            } catch {
                // An error that comes while it is being ended is the cancellation's echo and no failure.
                let reason = AnyFailure(error).message
                states.change(id) { $0.isEnding ? nil : .failed(reason) }
            }
            started.open()
            ended.open()
        }
    }

    /// Returns when the feature has started or failed; after the limit it is ended and counts as failed.
    func waitForStart(limit: Duration, clock: any Clock<Duration>) async {
        if await started.wait(atMost: limit, clock: clock) { return }
        let reason =
            Task.isCancelled
            ? "was cancelled before it had started" : "did not start within \(limit.words); it was ended"
        // What has reported in the very moment of the limit has started.
        if states.change(id, { $0 == .starting ? .failed(reason) : nil }) { task.cancel() }
    }

    /// Cancels the work and waits for its end; false when it did not end within the limit.
    func stop(limit: Duration, clock: any Clock<Duration>) async -> Bool {
        states.change(id) { state in if case .failed = state { nil } else { .stopping } }
        task.cancel()
        // In a task of its own: a command that was interrupted waits all the same until the feature has cleaned up.
        let hasEnded = await Task { [ended] in await ended.wait(atMost: limit, clock: clock) }.value
        guard hasEnded else {
            states.set(id, .failed("did not stop within \(limit.words); it was abandoned"))
            return false
        }
        states.change(id) { $0 == .stopping ? .stopped : nil }
        return true
    }
}

extension FeatureState {
    fileprivate var isEnding: Bool {
        switch self {
        case .stopping, .failed: true
        default: false
        }
    }

    /// What a report makes of the state; a feature that is ending stays so.
    fileprivate func after(_ health: Health) -> FeatureState? {
        switch (self, health) {
        case (.stopping, _), (.stopped, _), (.failed, _), (.off, _): nil
        case (_, .ok): .ok
        case (_, .degraded(let reason)): .degraded(reason)
        }
    }
}
