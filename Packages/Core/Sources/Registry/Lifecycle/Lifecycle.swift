import Capabilities
import Synchronization

/// Starts the features of a session in the order of their needs, and stops and closes them in reverse.
///
/// Owns the task of every running feature: `stop` cancels and awaits each of them, within a limit.
package actor Lifecycle {
    /// The states of all features, readable at any time.
    package nonisolated var states: FeatureStates { host.states }
    private nonisolated let host: Host
    private let limits: WorkbenchSession.Limits
    private var running: [String: FeatureRun] = [:]

    package init(host: Host, limits: WorkbenchSession.Limits = .init()) {
        self.host = host
        self.limits = limits
        let composition = host.composition
        let states = host.states
        for left in composition.off { states.set(left.id, .off(left.reason)) }
        for composed in composition.features {
            let reason = composition.problems.first { $0.feature == composed.manifest.id }?.message
            states.set(
                composed.manifest.id,
                composed.feature == nil ? .failed(reason ?? "cannot be created") : reason.map { .failed($0) } ?? .ok)
        }
    }

    /// Starts the given features, or all, and returns when each has started or failed.
    ///
    /// If a feature fails, only the features that require it fail too. Cancelling stops the pending starts.
    package func start(_ wanted: Set<String>? = nil) async {
        // Includes features without background work, because they pass on the failure of what they require.
        var waiting = host.composition.features.filter { wanted?.contains($0.manifest.id) != false }
        while !waiting.isEmpty, !Task.isCancelled {
            let names = Set(waiting.map(\.manifest.id))
            let ready = waiting.filter { names.isDisjoint(with: $0.requires) }
            waiting.removeAll { composed in ready.contains { $0.manifest.id == composed.manifest.id } }
            // Only a cycle leaves nothing ready, and a composition with a cycle is never started.
            if ready.isEmpty { return }
            await withTaskGroup(of: Void.self) { group in
                for composed in ready {
                    guard let run = begin(composed) else { continue }
                    group.addTask { [limits, host] in await run.waitForStart(limit: limits.start, clock: host.clock) }
                }
            }
        }
    }

    private func begin(_ composed: Composition.Composed) -> FeatureRun? {
        let id = composed.manifest.id
        guard running[id] == nil else { return nil }
        for required in composed.requires {
            if case .failed(let reason) = states[required] {
                states.set(id, .failed("needs \(required), which failed: \(reason)"))
                return nil
            }
        }
        guard let feature = composed.feature as? any RunningFeature else { return nil }
        let run = FeatureRun(id: id, feature: feature, host: host)
        running[id] = run
        return run
    }

    /// Stops all running features and closes all features, in reverse order, waiting for each within the limit.
    ///
    /// - Returns: the features that exceeded the limit; their tasks are abandoned.
    @discardableResult
    package func stop() async -> [String] {
        var stuck: [String] = []
        for composed in host.composition.features.reversed() {
            let id = composed.manifest.id
            let run = running.removeValue(forKey: id)
            var hasEnded = await run?.stop(limit: limits.stop, clock: host.clock) ?? true
            if hasEnded, !composed.closings.isEmpty { hasEnded = await close(composed) }
            if !hasEnded { stuck.append(id) }
        }
        return stuck
    }

    private func close(_ composed: Composition.Composed) async -> Bool {
        let ended = Latch()
        // Not cancelled with the caller, so that an interrupted command still waits until the feature has cleaned up.
        let work = Task {
            for closing in composed.closings.reversed() { await closing() }
            ended.open()
        }
        let limit = limits.stop
        let hasEnded = await shielded { [host] in await ended.wait(atMost: limit, clock: host.clock) }
        if !hasEnded {
            work.cancel()
            states.set(composed.manifest.id, .failed("was not closed within \(limit.words); it was abandoned"))
        }
        return hasEnded
    }
}

/// The background task of one feature. `Lifecycle` owns it.
final class FeatureRun: Sendable {
    private let id: String
    private let states: FeatureStates
    private let task: Task<Void, Never>
    private let started: Latch
    private let ended: Latch

    init(id: String, feature: any RunningFeature, host: Host) {
        self.id = id
        let states = host.states
        self.states = states
        let started = Latch()
        let ended = Latch()
        self.started = started
        self.ended = ended
        states.set(id, .starting)
        task = Task {
            do {
                try await feature.run(in: host) { health in
                    states.change(id) { $0.after(health) }
                    started.open()
                }
                states.change(id) { $0 == .starting ? .ok : nil }
            } catch {
                // An error during the stop is a consequence of the cancellation and not a failure.
                let reason = AnyFailure(error).message
                states.change(id) { $0.isEnding ? nil : .failed(reason) }
            }
            started.open()
            ended.open()
        }
    }

    /// Returns when the feature has started or failed. After the limit it is stopped and counts as failed.
    func waitForStart(limit: Duration, clock: any Clock<Duration>) async {
        if await started.wait(atMost: limit, clock: clock) { return }
        let reason =
            Task.isCancelled
            ? "was cancelled before it had started" : "did not start within \(limit.words); it was ended"
        // A feature that reports exactly at the limit counts as started.
        if states.change(id, { $0 == .starting ? .failed(reason) : nil }) { task.cancel() }
    }

    /// Cancels the work and waits for its end; false if it exceeded the limit.
    func stop(limit: Duration, clock: any Clock<Duration>) async -> Bool {
        states.change(id) { state in if case .failed = state { nil } else { .stopping } }
        task.cancel()
        // Not cancelled with the caller, so that an interrupted command still waits until the feature has cleaned up.
        let hasEnded = await shielded { [ended] in await ended.wait(atMost: limit, clock: clock) }
        guard hasEnded else {
            states.set(id, .failed("did not stop within \(limit.words); it was abandoned"))
            return false
        }
        states.change(id) { $0 == .stopping ? .stopped : nil }
        return true
    }
}
