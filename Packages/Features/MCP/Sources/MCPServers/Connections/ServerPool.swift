public import Capabilities
import Synchronization

/// The servers that run, each once however many need it. They end with the program.
public final class ServerPool: Sendable {
    /// Raised when a server has other tools or another state.
    public let changes = Signal()
    /// Where the tools of platforms were found.
    public let places = ServerPlaces()
    /// What the person has answered for servers.
    public let inputs = InputAnswers()
    private let state = Mutex(State())

    private struct State {
        var servers: [ConfiguredServer: LiveServer] = [:]
    }

    /// No server runs.
    public init() {}

    /// The server, which is started when it is first used.
    ///
    /// - Parameter make: makes it, if it is not there yet.
    public func server(
        _ server: ConfiguredServer, in surroundings: ServerSurroundings, log: ServerLog, sampler: LiveServer.Sampler?,
        permit: @escaping @Sendable () throws -> Void
    ) -> LiveServer {
        state.withLock { state in
            if let live = state.servers[server] { return live }
            let live = LiveServer(server, surroundings, log: log, sampler: sampler, permit: permit, changes: changes)
            state.servers[server] = live
            return live
        }
    }

    /// The server if it has been used.
    public func known(_ server: ConfiguredServer) -> LiveServer? { state.withLock { $0.servers[server] } }

    /// Ends a server, so that the next use starts it anew.
    public func end(_ server: ConfiguredServer) async {
        await state.withLock { $0.servers.removeValue(forKey: server) }?.close()
    }

    /// Ends those that nobody has set up any more.
    public func keepOnly(_ servers: Set<ConfiguredServer>, in folder: String) async {
        let gone = state.withLock { state in
            let gone = state.servers.filter { $0.key.folder == folder && !servers.contains($0.key) }
            for server in gone.keys { state.servers[server] = nil }
            return Array(gone.values)
        }
        await Self.close(gone)
    }

    /// Ends all of them, side by side.
    public func close() async {
        let all = state.withLock { state in
            defer { state.servers = [:] }
            return Array(state.servers.values)
        }
        await Self.close(all)
    }

    private static func close(_ servers: [LiveServer]) async {
        await withTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { await server.close() } }
        }
    }
}
