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
        if action.isInstant {
            let context = ActionContext(registry: registry, host: host, interaction: interaction, output: output)
            return try await registry.perform(action, arguments, in: context, isAgreed: isAgreed)
        }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            let session = HostSession(host)
            let result: Result<any OutputValue, any Error>
            do {
                result = .success(
                    try await session.perform(
                        action, arguments, interaction: interaction, output: output, limit: limit, isAgreed: isAgreed))
            } catch {
                result = .failure(error)
            }
            for stuck in await session.end() {
                output.notice("the feature \(stuck) did not stop in time and was abandoned")
            }
            return try result.get()
        }
    }
}
