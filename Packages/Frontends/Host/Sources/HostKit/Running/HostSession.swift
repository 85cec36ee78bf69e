import Capabilities
import JSON
import Registry
import Synchronization

/// Does actions with the features that they need, each of which is started once.
final class HostSession: ActionSession {
    private let host: Host
    private let lifecycle: Lifecycle
    private let state = Mutex(State())

    private struct State {
        /// The features with whose action nothing is left to be started.
        var ready: Set<String> = []
        /// The start that came last; starts wait for each other, so that nobody goes on before a feature is there.
        var last: Task<Void, Never>?
    }

    /// - Parameter host: its features must not have been started with the same states.
    init(_ host: Host) {
        self.host = host
        lifecycle = Lifecycle(host: host)
    }

    private var registry: Registry { host.composition.registry }

    func perform(
        _ action: Action, _ arguments: JSONObject, interaction: any Interaction, output: any ActionOutput,
        limit: Duration?, isAgreed: Bool
    ) async throws -> any OutputValue {
        let owner = registry.actions.owner(of: action) ?? ""
        await start(owner)
        if case .failed(let reason) = lifecycle.states[owner], !action.worksAlways {
            throw HostError.featureFailed(owner, why: reason)
        }
        let context = ActionContext(registry: registry, host: host, interaction: interaction, output: output)
        let work: @Sendable () async throws -> any OutputValue = { [registry] in
            try await registry.perform(action, arguments, in: context, isAgreed: isAgreed)
        }
        // What waits for nothing needs nobody who watches the time.
        guard let limit, !action.isInstant else { return try await work() }
        return try await Deadline(limit: limit, abandonsCancelled: true, clock: host.clock).run(work)
    }

    func provider<C: Sendable>(of capability: C.Type) async -> C? {
        let wanted = Need.one(capability).capability
        for composed in host.composition.features
        where composed.manifest.provides.contains(where: { $0.capability == wanted }) {
            await start(composed.manifest.id)
        }
        return registry.optional(capability)
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline(limit: limit, clock: host.clock).run(work)
    }

    func end() async -> [String] {
        await state.withLock { $0.last }?.value
        return await lifecycle.stop()
    }

    private func start(_ id: String) async {
        let start = state.withLock { contents -> Task<Void, Never>? in
            guard !contents.ready.contains(id) else { return nil }
            let before = contents.last
            // `end` waits for it.
            let task = Task { [self] in
                await before?.value
                await lifecycle.start(host.composition.closure(of: id))
                if !Task.isCancelled { state.withLock { _ = $0.ready.insert(id) } }
            }
            contents.last = task
            return task
        }
        guard let start else { return }
        await withTaskCancellationHandler {
            await start.value
        } onCancel: {
            start.cancel()
        }
    }
}

/// Lets actions do others, with features that live as long as the session.
final class HostPerformer: ActionPerformer {
    func session(in host: Host) -> any ActionSession {
        // With states of its own: what the command around it has started is not this session's to stop.
        HostSession(
            Host(
                name: host.name, version: host.version, surroundings: host.surroundings, settings: host.settings,
                catalogue: host.catalogue, composition: host.composition))
    }
}
