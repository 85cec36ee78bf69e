import Capabilities
import JSON
import RPCKit

extension MCPClient {
    /// In the modern era, keeps the request open by which the server tells what has changed; a new one for each new wish,
    /// and after a pause when the server has ended it.
    func listen() async throws {
        let info = try await server()
        guard info.version.isModern else { return }
        var pause = Self.shortestPause
        while true {
            let seen = wishes.count
            let wanted = notices(info.capabilities)
            try await withThrowingTaskGroup(of: Void.self) { [pause] group in
                group.addTask { try await self.wishes.wait(beyond: seen) }
                if !wanted.isEmpty {
                    group.addTask {
                        // If the server cannot, only another wish is a reason to ask again.
                        if try await !self.listen(to: wanted) { try await self.wishes.wait(beyond: seen) }
                        try await ContinuousClock().sleep(for: pause)
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
            pause = wishes.count > seen ? Self.shortestPause : min(pause * 2, Self.longestPause)
        }
    }

    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private func notices(_ offered: MCPServerCapabilities) -> JSONObject {
        var notices: JSONObject = [:]
        if offered.tools?.tellsChanges == true { notices["toolsListChanged"] = true }
        if offered.prompts?.tellsChanges == true { notices["promptsListChanged"] = true }
        if offered.resources?.tellsChanges == true { notices["resourcesListChanged"] = true }
        let watched = watched.sorted()
        if !watched.isEmpty { notices["resourceSubscriptions"] = .array(watched.map { .string($0) }) }
        return notices
    }

    /// Returns true when the server has ended it and may be asked again, and false if it cannot.
    private func listen(to notices: JSONObject) async throws -> Bool {
        do {
            _ = try await ask("subscriptions/listen", ["notifications": .object(notices)], lasting: true)
            return true
        } catch let error as MCPError {
            if error.kind != .refused, error.kind != .unsupported { handler.tell(error.message) }
            // A stream that was cut can be opened again.
            return error.kind == .closed
        }
    }
}
