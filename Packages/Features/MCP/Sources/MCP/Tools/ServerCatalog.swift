import Capabilities
import MCPServers

/// The servers of a place as sources of tools.
final class ServerCatalog: ToolCatalog {
    private let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var changes: Signal { services.pool.changes }

    func sources(
        at place: ToolPlace, telling tell: @escaping @Sendable (String) -> Void
    ) async throws -> [any ToolSource] {
        let folder = place.folder.map(services.folder) ?? services.projectFolder
        // A model without a folder must not get the servers of the one in which the program was started.
        let directory = try await services.current(folder, isProject: place.folder != nil, telling: tell)
        for problem in directory.problems { services.tellOnce(problem, tell) }
        guard !directory.servers.isEmpty else { return [] }
        let choice = try await services.choice(folder: folder, conversation: place.conversation)
        let interaction = Caller.current?.interaction ?? HeadlessInteraction()
        var sources: [ServerTools] = []
        for name in choice.sorted(directory.servers.map(\.name)) {
            let server = try directory.server(named: name)
            guard server.entry.isEnabled, choice.uses(server: name) else { continue }
            do {
                try await services.prepare(server, asking: interaction, asksAgain: false, telling: tell)
            } catch let error as ServerError
                where error.isUnprepared && !(server.entry.isRequired && !interaction.canAsk)
            {
                services.tellOnce(error.message, tell)
                continue
            }
            // Without a person there is no later turn that would see tools that come late.
            let waits = place.isLastTurn || server.entry.isRequired
            sources.append(ServerTools(services.live(server), services, choice, waits: waits, tell: tell))
        }
        try await begin(sources)
        return sources
    }

    /// Starts those whose tools nobody has listed lately, side by side, and waits for those that are required.
    private func begin(_ sources: [ServerTools]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in sources where source.isRequired { group.addTask { _ = try await source.tools() } }
            for source in sources where !source.isRequired {
                if try await !source.isKnown { source.start() }
            }
            try await group.waitForAll()
        }
    }
}
