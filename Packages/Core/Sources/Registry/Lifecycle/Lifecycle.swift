import Capabilities

/// Starts the features of a session in the order of their needs, and stops and closes them in reverse.
///
/// It owns the task of every running feature: `stop` cancels and awaits each, within a limit.
package actor Lifecycle {
    /// The states of all features, for anybody at any time.
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
                composed.feature == nil ? .failed(reason ?? "cannot be made") : reason.map { .failed($0) } ?? .ok)
        }
    }

    /// Starts the given features, or all, and returns when each has started or failed.
    ///
    /// A feature that fails takes only those with it that need it. Cancelling ends the starts that are under way.
    package func start(_ wanted: Set<String>? = nil) async {
        // Those without a life of their own wait too, because they pass on a failure of what they need.
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
        let run = FeatureRun(id: id, feature: feature, host: host, registry: host.composition.registry, states: states)
        running[id] = run
        return run
    }

    /// Stops every running feature and closes all, in reverse order, and waits for each within the limit.
    ///
    /// - Returns: the features that took longer; their tasks are abandoned.
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
        // In tasks of their own: a command that was interrupted waits all the same until the feature has cleaned up.
        let work = Task {
            for closing in composed.closings.reversed() { await closing() }
            ended.open()
        }
        let limit = limits.stop
        let hasEnded = await Task { [host] in await ended.wait(atMost: limit, clock: host.clock) }.value
        if !hasEnded {
            work.cancel()
            states.set(composed.manifest.id, .failed("was not closed within \(limit.words); it was abandoned"))
        }
        return hasEnded
    }
}
