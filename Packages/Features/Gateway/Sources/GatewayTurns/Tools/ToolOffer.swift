public import Capabilities
public import GatewayStore

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
        return await offers(of: found)
    }

    private func offers(of sources: [any ToolSource]) async -> [ToolOffer] {
        await withTaskGroup(of: (Int, ToolOffer).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { [clock = parts.clock, limit = parts.settings.callTime] in
                    (index, await Self.offer(of: source, within: limit, on: clock))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Throws where a selection names a tool that nobody has, so that nobody believes in a choice that does not count.
    public func check(_ selection: ToolSelection, inProject id: String?) async throws {
        guard selection.tools?.isEmpty == false else { return }
        var project: Project?
        if let id { project = try await self.project(id) }
        try await check(selection, among: sources(in: project))
    }

    func check(_ selection: ToolSelection, among sources: [any ToolSource]) async throws {
        guard let wanted = selection.tools, !wanted.isEmpty else { return }
        let offers = await offers(of: sources)
        // A source that does not answer now may have any.
        guard offers.allSatisfy({ $0.problem == nil }) else { return }
        let known = offers.flatMap(\.tools).map(\.name)
        guard let name = wanted.first(where: { name in !known.contains { OfferedTools.isTool($0, called: name) } })
        else { return }
        let list = known.isEmpty ? "no tool can be used here" : "there are \(known.joined(separator: ", "))"
        throw GatewayError(
            .unknownTool, "there is no tool \(PlainText.escape(name).quoted); \(list)", param: "enabled_tools")
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
