public import Capabilities
public import JSON
public import Registry

extension Workbench {
    /// Does an action: starts the features that it needs, does it within the limit, and stops them again.
    ///
    /// - Parameters:
    ///   - limit: after which it is cancelled; nil for none.
    ///   - isAgreed: whether the person has agreed beforehand to what destroys.
    public func perform(
        _ action: Action, _ arguments: JSONObject, interaction: any Interaction, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        if let failure, !action.worksAlways { throw failure }
        let context = ActionContext(registry: registry, host: host, interaction: interaction, output: output)
        if action.isInstant {
            return try await registry.perform(action, arguments, in: context, isAgreed: isAgreed)
        }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            let lifecycle = Lifecycle(host: host)
            let owner = registry.actions.owner(of: action) ?? ""
            await lifecycle.start(composition.closure(of: owner))
            let result: Result<any OutputValue, any Error>
            do {
                if case .failed(let reason) = lifecycle.states[owner], !action.worksAlways {
                    throw HostError.featureFailed(owner, why: reason)
                }
                result = .success(
                    try await within(limit) {
                        try await registry.perform(action, arguments, in: context, isAgreed: isAgreed)
                    })
            } catch {
                result = .failure(error)
            }
            for stuck in await lifecycle.stop() {
                output.notice("the feature \(stuck) did not stop in time and was abandoned")
            }
            return try result.get()
        }
    }

    private func within<Value: Sendable>(
        _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        return try await Deadline(limit: limit, clock: host.clock).run(work)
    }
}
