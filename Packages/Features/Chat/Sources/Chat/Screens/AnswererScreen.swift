import Capabilities
import ChatProviders
import JSON
import Registry
import Screens

/// The panel of who can answer now: accounts and servers that are set up, servers that were found on this machine, and
/// the models of this program. Each is a way to begin a conversation.
struct AnswererScreen {
    private let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    /// A search of this machine is valid for as long.
    private static let interval = Duration.seconds(60)

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("chat.answerers", "Who can answer", .home) { screen in
                repeat {
                    try await screen.show(try await block())
                } while try await screen.changed(orAfter: Self.interval)
            }
            .details("Nothing but the usual ports of this machine is asked.")
            .sending())
    }

    private func block() async throws -> Block {
        let directory = try services.directory()
        let rows = await directory.available().map { Answerer($0, directory) }
        let links: [Link] = [.screen("chat.new", "New conversation", key: "n", ["model": .row("id")])]
        return Block(
            .table(
                Table(
                    rows, id: "id", links: links,
                    empty: "no model is available; 'martlet chat models' says how to get one")), id: "rows")
    }
}

/// A provider that can be asked now.
private struct Answerer: Record {
    let id: String
    let name: String
    let place: String

    init(_ provider: any ModelProvider, _ directory: ProviderDirectory) {
        (id, name) = (provider.id, provider.name)
        place =
            directory.isFound(provider.id)
            ? "found on this machine" : directory.address(of: provider.id) ?? "in this program"
    }

    static let fields: [Field<Answerer>] = [
        Field("id", "Name of the provider, which is also a choice of a model", .name) { $0.id },
        Field("place", "Where messages to it go") { $0.place },
        Field("name", "What it is", .minor) { $0.name },
    ]
}
