public import Capabilities

/// What one source of tools offers.
public struct ToolOffer: Sendable, Hashable {
    /// What the source is called in selections: `files` for the folder of a project, or a server's name.
    public let source: String
    public let tools: [ToolDescription]
    /// Why its tools are not known now.
    public let problem: String?
}

extension Turns {
    /// The sources that can be selected, and what each offers.
    ///
    /// - Parameter project: whose folder is meant; without one there are only tools that belong to no folder.
    public func toolOffers(project id: String? = nil) async throws -> [ToolOffer] {
        var found: [any ToolSource] = []
        if let id {
            found = try await sources(in: project(id))
        } else {
            found = try await sources(in: nil)
        }
        let sources = found
        return await withTaskGroup(of: (Int, ToolOffer).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { [clock = parts.clock, limit = parts.settings.callTime] in
                    (index, await Self.offer(of: source, within: limit, on: clock))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private static func offer(
        of source: any ToolSource, within limit: Duration, on clock: any Clock<Duration>
    ) async -> ToolOffer {
        do {
            let tools = try await withThrowingTaskGroup(of: [ToolDescription].self) { group in
                group.addTask { try await source.tools() }
                group.addTask {
                    try await clock.sleep(for: limit)
                    throw GatewayError(.toolsUnavailable, "it did not answer within \(limit.words)")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
            return ToolOffer(source: source.name, tools: tools, problem: nil)
        } catch {
            return ToolOffer(source: source.name, tools: [], problem: AnyFailure(error).message)
        }
    }
}
