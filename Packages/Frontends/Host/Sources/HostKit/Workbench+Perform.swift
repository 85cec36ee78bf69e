public import Capabilities
public import JSON
public import Registry

extension Workbench {
    /// A session of this workbench, which is to be closed. One workbench has one session. It takes up settings that change
    /// while it is open.
    public func open() -> WorkbenchSession {
        WorkbenchSession(host, failure: failure, renewal: SettingsWatch(self))
    }

    /// Does one action in a session of its own, as a command does.
    public func perform(
        _ action: Action, _ arguments: JSONObject, as caller: Caller, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let session = open()
        let result: Result<any OutputValue, any Error>
        do {
            result = .success(
                try await session.perform(
                    action.id, arguments, as: caller, output: output, limit: limit, isAgreed: isAgreed))
        } catch {
            result = .failure(error)
        }
        // What waits for nothing has opened nothing that is to be closed.
        for stuck in action.isInstant ? [] : await session.close() {
            output.notice("the feature \(stuck) did not stop in time and was abandoned")
        }
        return try result.get()
    }
}
