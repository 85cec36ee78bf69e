import Capabilities
import GatewayKit
import GatewayTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

/// A gateway and a client of it.
enum Lab {
    static let key = "sk-test-0123456789abcdefghij"

    /// A plain gateway that expects the key, and a client that has it.
    static func run<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ server: PlainGateway, _ gateway: RemoteGateway) async throws -> Result
    ) async throws -> Result {
        try await PlainGateway.run(key: key) { server in
            try await with(server.address) { try await body(server, $0) }
        }
    }

    /// A client of a server that follows a script.
    static func scripted<Result>(
        patience: Duration = .seconds(15), isolation: isolated (any Actor)? = #isolation,
        _ script: @escaping ScriptedServer.Script,
        _ body: (_ server: ScriptedServer, _ gateway: RemoteGateway) async throws -> Result
    ) async throws -> Result {
        try await ScriptedServer.run(script) { server in
            try await with("http://127.0.0.1:\(server.port)", patience: patience) { try await body(server, $0) }
        }
    }

    static func with<Result>(
        _ address: String, patience: Duration = .seconds(15), isolation: isolated (any Actor)? = #isolation,
        _ body: (RemoteGateway) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(.standalone)
        let url = try HTTPURL(address)
        let gateway = try RemoteGateway(
            ServerID("lab"), at: url, client: client,
            signer: RequestSigner(KeyAuthenticator(Secret(key), for: url), for: ServerID("lab")),
            remedy: "sign in with 'martlet auth login lab'", redactor: redactor, patience: patience)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(gateway)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    private static let redactor: Redactor = {
        let redactor = Redactor()
        redactor.learn(Secret(key))
        return redactor
    }()
}

/// Adds a key by the shared rule.
private final class KeyAuthenticator: Authenticator {
    private let key: Secret
    private let url: HTTPURL

    init(_ key: Secret, for url: HTTPURL) {
        self.key = key
        self.url = url
    }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        _ = try request.authorize(with: key, for: .key(beside: url))
    }

    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
}

extension ScriptedConnection {
    /// Receives a request and answers it; the connection ends with it.
    func reply(_ body: String, status: Int = 200, headers: HTTPHeaders = [:]) throws {
        try receiveRequest()
        var all = headers
        all["Connection"] = "close"
        try answer(status, all, body)
    }
}

extension PlainGateway {
    /// The targets of the requests so far.
    var targets: [String] { requests.map { "\($0.method) \($0.target)" } }
}
