import Capabilities

/// Starts the features of a composition in the order of their needs, and stops them in reverse.
///
/// It owns the task of every running feature: `stop` cancels and awaits each, within a limit.
public actor Lifecycle {
    /// How long a feature may take.
    public struct Limits: Sendable {
        public var start: Duration
        public var stop: Duration

        public init(start: Duration = .seconds(10), stop: Duration = .seconds(5)) {
            self.start = start
            self.stop = stop
        }
    }

    /// The states of all features, for anybody at any time.
    public nonisolated var states: FeatureStates { host.states }
    private nonisolated let host: Host
    private let limits: Limits
    private var running: [(id: String, run: FeatureRun)] = []

    public init(host: Host, limits: Limits = Limits()) {
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
    public func start(_ wanted: Set<String>? = nil) async {
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
        guard !running.contains(where: { $0.id == id }) else { return nil }
        for required in composed.requires {
            if case .failed(let reason) = states[required] {
                states.set(id, .failed("needs \(required), which failed: \(reason)"))
                return nil
            }
        }
        guard let feature = composed.feature as? any RunningFeature else { return nil }
        let run = FeatureRun(id: id, feature: feature, host: host, registry: host.composition.registry, states: states)
        running.append((id, run))
        return run
    }

    /// Stops every running feature in reverse order and waits for each within the limit.
    ///
    /// - Returns: the features that did not stop in time; their tasks are abandoned.
    @discardableResult
    public func stop() async -> [String] {
        var stuck: [String] = []
        while let (id, run) = running.popLast() {
            if await !run.stop(limit: limits.stop, clock: host.clock) { stuck.append(id) }
        }
        return stuck
    }
}
