import Capabilities
import HTTPClient
import HTTPCore
import JSON
public import OpenAIDialect

/// A kind of model server for one's own machine, with its usual port.
public struct LocalServer: Sendable, Hashable {
    /// The id of its provider.
    public var id: String
    /// The name for messages.
    public var name: String
    /// The port on 127.0.0.1.
    public var port: Int
    var quirks: OpenAIQuirks

    /// - Parameter port: the port on 127.0.0.1.
    public init(id: String, name: String, port: Int, quirks: OpenAIQuirks) {
        self.id = id
        self.name = name
        self.port = port
        self.quirks = quirks
    }

    /// The model servers that are known, with the ports that they use unless told otherwise.
    public static let usual = [
        LocalServer(id: "ollama", name: "Ollama", port: 11434, quirks: .ollama),
        LocalServer(id: "lmstudio", name: "LM Studio", port: 1234, quirks: .compatible),
        LocalServer(id: "llama.cpp", name: "llama.cpp", port: 8080, quirks: .llamaCpp),
        LocalServer(id: "vllm", name: "vLLM", port: 8000, quirks: .vLLM),
    ]

    /// How long to wait for a server on the same machine.
    static let patience: Duration = .milliseconds(500)

    func base() throws(HTTPError) -> HTTPURL { try HTTPURL("http://127.0.0.1:\(port)/v1") }

    /// Whether a model server answers there now. It is asked without a key.
    func isThere(_ client: HTTPClient) async -> Bool {
        do {
            var request = HTTPRequest(.get, try base().below("/models"))
            request.limits.connect = Self.patience
            request.limits.firstByte = Self.patience
            request.limits.total = Self.patience
            request.limits.body = 4 << 20
            request.redirects = .none
            request.retry = .none
            let response = try await client.send(request)
            guard response.status.isSuccess else { return false }
            let models = try OpenAIDialect.models(in: response.body, provider: id)
            return !models.isEmpty && !Self.isAgent(response.body)
        } catch {
            // It is not a model server.
            return false
        }
    }

    /// Whether the list is that of an agent gateway, which also uses one of these ports. A gateway runs tools, so it is
    /// not used without being named.
    private static func isAgent(_ body: [UInt8]) -> Bool {
        do {
            let owners = try JSON(parsing: body, reading: .stream)["data"]?.array?.compactMap { $0["owned_by"]?.string }
            return owners.map { !$0.isEmpty && $0.allSatisfy { $0.hasPrefix("anthropic") } } ?? false
        } catch {
            return false
        }
    }
}
