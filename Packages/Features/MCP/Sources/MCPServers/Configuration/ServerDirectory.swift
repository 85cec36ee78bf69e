import Capabilities
import FileKit

/// The servers that are set up for a folder.
public struct ServerDirectory: Sendable {
    /// The servers, by name. Those of the person come before those of the project with the same name.
    public private(set) var servers: [ConfiguredServer] = []
    /// Sentences about what was left out, such as a file that cannot be read.
    public private(set) var problems: [String] = []

    /// - Parameters:
    ///   - layers: what each settings file, variable and option sets, the weakest first.
    ///   - folder: the folder of the project.
    ///   - readsProject: whether the files of other programs in it are looked at.
    ///   - platforms: what the person's platforms have told of their tools.
    ///   - problems: what the layers have that cannot be used.
    public init(
        _ layers: [(origin: ConfiguredServer.Origin, entries: ServerEntries)], folder: String, readsProject: Bool,
        platforms: [PlatformListing] = [], problems known: [String] = []
    ) {
        problems = known
        var found: [String: ConfiguredServer] = [:]
        func add(_ server: ConfiguredServer) {
            let name = server.name
            if let problem = ServerName.problem(name) { return problems.append(problem) }
            guard let other = found[name] else { return found[name] = server }
            // Otherwise a project could answer for a server that the person knows under that name.
            if server.isOwn, !other.isOwn {
                problems.append(
                    "the server \(name) of \(PlainText.escape(other.place)) is left out, since one of yours has that name"
                )
            }
            if server.isOwn || !other.isOwn { found[name] = server }
        }
        func add(_ origin: ConfiguredServer.Origin, _ entries: ServerEntries) {
            for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
                add(ConfiguredServer(name: name, entry: entry, origin: origin, folder: folder))
            }
        }
        if readsProject {
            for file in ForeignFile.ofProject(folder).reversed() {
                do {
                    guard let content = try file.read() else { continue }
                    problems += content.problems
                    add(.project(file: file.path), content.servers)
                } catch {
                    problems.append(AnyFailure(error).message)
                }
            }
        }
        for layer in layers where !Self.isOwn(layer.origin) { add(layer.origin, layer.entries) }
        for layer in layers where Self.isOwn(layer.origin) { add(layer.origin, layer.entries) }
        let own = Set(found.values.filter(\.isOwn).map(\.name))
        let (told, unnamed) = PlatformListing.servers(of: platforms, beside: own, folder: folder)
        problems += unnamed
        for server in told { add(server) }
        servers = found.values.sorted { $0.name < $1.name }
    }

    private static func isOwn(_ origin: ConfiguredServer.Origin) -> Bool {
        if case .own = origin { true } else { false }
    }

    /// The server with this name.
    public func server(named name: String) throws(ServerError) -> ConfiguredServer {
        guard let found = servers.first(where: { $0.name == name }) else {
            throw ServerError.unknown(name, among: servers.map(\.name))
        }
        return found
    }
}
