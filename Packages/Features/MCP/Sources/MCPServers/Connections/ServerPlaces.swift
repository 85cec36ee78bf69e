import Capabilities
import HTTPClient
import HTTPCore
import MCPKit
import Synchronization

/// Where the tools of platforms were found, for as long as the program runs. A platform gives one address for a tool, whose
/// server answers there, or below it at `/mcp`, or in the older way at `/sse`.
public final class ServerPlaces: Sendable {
    /// An address, and how messages are carried there.
    struct Place: Sendable, Hashable {
        let url: HTTPURL
        let form: MCPHTTPTransport.Form
    }

    private let found = Mutex([HTTPURL: Place]())

    /// Nothing was found yet.
    public init() {}

    /// Where the server may be, in the order in which it is looked for.
    func all(of url: HTTPURL) throws(HTTPError) -> [Place] {
        var places = [Place(url: url, form: .streamable)]
        if !url.path.hasSuffix("/mcp") { places.append(Place(url: try url.below("/mcp"), form: .streamable)) }
        places.append(Place(url: url.path.hasSuffix("/sse") ? url : try url.below("/sse"), form: .events))
        guard let known = found.withLock({ $0[url] }) else { return places }
        return [known] + places.filter { $0 != known }
    }

    func remember(_ place: Place, of url: HTTPURL) { found.withLock { $0[url] = place } }
}

extension ServerSurroundings {
    /// Does something with the address of a server. That of a platform's tool is looked for, until there is a server.
    ///
    /// - Parameter body: calls its second argument once the server has answered. What fails after that is final.
    func reaching<Value: Sendable>(
        _ server: ConfiguredServer, at url: String,
        _ body: (MCPServerAddress, _ isThere: @escaping @Sendable () -> Void) async throws -> Value
    ) async throws -> Value {
        let address = try await address(of: server, url)
        guard server.platform != nil else { return try await body(address) {} }
        var refusals: [String] = []
        for place in try places.all(of: address.url) {
            var tried = address
            (tried.url, tried.form) = (place.url, place.form)
            let answered = Promise<Void>()
            do {
                return try await body(tried) { [places] in
                    places.remember(place, of: address.url)
                    answered.settle(())
                }
            } catch let error as MCPError where !answered.isSettled && error.isAboutPlace {
                refusals.append("\(PlainText.escape(place.url.path, limit: 100)): \(error.message)")
            }
        }
        throw MCPError(
            .refused,
            "the MCP server \(PlainText.escape(server.name).quotedForMessage) is at none of its addresses; \(refusals.joined(separator: "; "))"
        )
    }
}

extension MCPError {
    /// Whether no MCP server has answered, though something did.
    fileprivate var isAboutPlace: Bool { [.refused, .malformed].contains(kind) && error == nil }
}
