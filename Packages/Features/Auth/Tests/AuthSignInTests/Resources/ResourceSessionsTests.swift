import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Signing in at resources", .timeLimit(.minutes(2)))
struct ResourceSessionsTests {
    private static let now: @Sendable () -> Timestamp = Timestamp.now

    private static let nobody = ResourceSessions.Asker {
        throw SignInError.needsPerson(at: $0)
    } show: { _ in
    }

    /// Sends a request to an MCP server, signed; returns its status, and what it was sent with.
    private static func ask(
        _ sessions: ResourceSessions, _ resource: ResourceAddress, _ client: HTTPClient
    ) async throws -> (HTTPResponse, RequestHead) {
        var head = RequestHead(method: "POST", url: resource.text)
        try await sessions.sign(&head, for: resource)
        var request = HTTPRequest(
            .post, try HTTPURL(resource.text),
            headers: ["Content-Type": "application/json", "Accept": "application/json, text/event-stream"],
            body: .text(#"{"jsonrpc":"2.0","id":1,"method":"none"}"#))
        for (name, value) in head.headers { value.withText { request.headers[name] = $0 } }
        return (try await client.send(request), head)
    }

    @Test("A server of FastMCP lets the user sign in, and the session is renewed and kept")
    func fastMCP() async throws {
        try await ProtectedServer.run { address in
            try await withClient { client in
                let resource = ResourceAddress(address)
                let store = MemoryStore()
                let asked = Mutex<[String]>([])
                let sessions = ResourceSessions(
                    in: store, as: ResourceClient(name: "Martlet"), client: client, now: Self.now,
                    ask: .init { _ in
                    } show: { url in
                        asked.withLock { $0.append(url.text) }
                        try await Curl.browse(url.text)
                    })
                let (refused, head) = try await Self.ask(sessions, resource, client)
                #expect(refused.status == .unauthorized && head.headers.isEmpty)
                let challenge = ResourceChallenge(
                    .signIn, metadata: try HTTPURL(address).resolving("/.well-known/oauth-protected-resource/mcp").text,
                    scopes: ["use"])
                #expect(try await sessions.answer(challenge, to: head, for: resource))
                let (accepted, signed) = try await Self.ask(sessions, resource, client)
                #expect(accepted.status != .unauthorized && accepted.status != .forbidden)
                let first = try #require(asked.withLock { $0.first })
                #expect(first.contains("resource=http%3A%2F%2F127.0.0.1") && first.contains("scope=use"))
                // A token that is refused is renewed, and the person is not asked.
                #expect(try await sessions.answer(challenge, to: signed, for: resource))
                let (again, renewed) = try await Self.ask(sessions, resource, client)
                #expect(again.status == accepted.status && asked.withLock { $0.count } == 1)
                let tokens = [signed, renewed].map { $0.headers[0].value.withText { $0 } }
                #expect(tokens[0] != tokens[1] && store.tokens >= 4)
                // Another process finds the session, and nobody else gets it.
                let others = ResourceSessions(
                    in: store, as: ResourceClient(name: "Martlet"), client: client, now: Self.now, ask: Self.nobody)
                #expect(try await Self.ask(others, resource, client).0.status == accepted.status)
                var elsewhere = RequestHead(method: "GET", url: "http://127.0.0.1:9/mcp")
                try await others.sign(&elsewhere, for: resource)
                #expect(elsewhere.headers.isEmpty)
                // More scopes are asked for together with those that there are.
                let more = ResourceChallenge(.moreScopes, metadata: challenge.metadata, scopes: ["more"])
                #expect(try await sessions.answer(more, to: renewed, for: resource))
                #expect(asked.withLock { $0.last }?.contains("scope=use%20more") == true)
                // What is forgotten is sent no more, and is gone for others too.
                #expect(try await sessions.forget(resource))
                #expect(try await Self.ask(sessions, resource, client).0.status == .unauthorized)
                let forgotten = try await others.forget(resource)
                #expect(!forgotten)
                #expect(try await store.credential(for: resource) == nil)
                await sessions.close()
                await others.close()
            }
        }
    }

    @Test("Without a person nothing is asked, not even the servers that a resource names")
    func headless() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.answer(404)
        } during: { server in
            try await withClient { client in
                let sessions = ResourceSessions(
                    in: MemoryStore(), as: ResourceClient(name: "Martlet"), client: client, now: Self.now,
                    ask: Self.nobody)
                let address = "http://127.0.0.1:\(server.port)/mcp"
                let error = await #expect(throws: SignInError.self) {
                    try await sessions.answer(
                        ResourceChallenge(.signIn), to: RequestHead(method: "POST", url: address),
                        for: ResourceAddress(address))
                }
                #expect(error?.exit == .unanswered && error?.message.contains(address) == true)
            }
            #expect(server.record.connections.isEmpty)
        }
    }

    @Test("Requests that are refused together lead to one sign-in")
    func together() async throws {
        try await ProtectedServer.run { address in
            try await withClient { client in
                let asked = Mutex(0)
                let sessions = ResourceSessions(
                    in: MemoryStore(), as: ResourceClient(name: "Martlet"), client: client, now: Self.now,
                    ask: .init { _ in
                    } show: { url in
                        asked.withLock { $0 += 1 }
                        try await Curl.browse(url.text)
                    })
                let resource = ResourceAddress(address)
                let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let (answer, head) = try await Self.ask(sessions, resource, client)
                            guard answer.status == .unauthorized else { return answer.status }
                            _ = try await sessions.answer(ResourceChallenge(.signIn), to: head, for: resource)
                            return try await Self.ask(sessions, resource, client).0.status
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(!statuses.contains(.unauthorized) && asked.withLock { $0 } == 1)
                await sessions.close()
            }
        }
    }

    // MARK: Servers that lie

    private struct Documents {
        var resource: String?
        var issuers: [String]?
        var configuration: JSONObject?
        var issuer: String?
        var methods: JSON = ["S256"]
        var registration: JSON? = ["client_id": "c-1"]
        var metadata: String?
    }

    private static func failure(
        _ change: @Sendable (inout Documents) -> Void, isFollowed: Bool = false
    ) async throws -> SignInError? {
        var made = Documents()
        change(&made)
        let documents = made
        return try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                let origin = "http://\(request.headers["Host"] ?? "")"
                let type: HTTPHeaders = ["Content-Type": "application/json"]
                switch request.target {
                case "/.well-known/oauth-protected-resource/mcp":
                    let issuers = documents.issuers ?? [origin]
                    let json: JSON = [
                        "resource": .string(documents.resource ?? "\(origin)/mcp"),
                        "authorization_servers": .array(issuers.map { .string($0) }),
                    ]
                    try connection.answer(200, type, json.text())
                case "/.well-known/oauth-authorization-server":
                    var json: JSONObject = [
                        "issuer": .string(documents.issuer ?? origin),
                        "authorization_endpoint": .string("\(origin)/authorize"),
                        "token_endpoint": .string("\(origin)/token"),
                        "code_challenge_methods_supported": documents.methods,
                    ]
                    if documents.registration != nil { json["registration_endpoint"] = .string("\(origin)/register") }
                    try connection.answer(200, type, JSON.object(json).text())
                case "/register": try connection.answer(201, type, (documents.registration ?? [:]).text())
                default: try connection.answer(404)
                }
            }
        } during: { server in
            try await withClient { client in
                let sessions = ResourceSessions(
                    in: MemoryStore(), as: ResourceClient(name: "Martlet"), client: client, now: now,
                    ask: .init { _ in
                    } show: { url in
                        throw SignInError(.unanswered, "asked: \(url.text)")
                    })
                let address = "http://127.0.0.1:\(server.port)/mcp"
                do {
                    _ = try await sessions.answer(
                        ResourceChallenge(.signIn, metadata: documents.metadata),
                        to: RequestHead(method: "POST", url: address), for: ResourceAddress(address))
                    return nil
                } catch let error as SignInError {
                    return error
                }
            }
        }
    }

    @Test("A server that describes itself well leads to its sign-in page")
    func honest() async throws {
        let error = try #require(try await Self.failure { _ in })
        #expect(error.message.hasPrefix("asked: ") && error.message.contains("client_id=c-1"))
        #expect(error.message.contains("code_challenge_method=S256"))
        // One description for all paths of a server is fine.
        let whole = try #require(try await Self.failure { $0.metadata = nil })
        #expect(whole.kind == .unanswered)
    }

    @Test(
        "A description of another resource is not used", arguments: ["http://127.0.0.1:9/mcp", "https://a.example", ""])
    func otherResource(named: String) async throws {
        let error = try await Self.failure { $0.resource = named }
        #expect(error?.kind == .issuer)
    }

    @Test("What is not reached by TLS is not asked")
    func plain() async throws {
        let server = try await Self.failure { $0.issuers = ["http://login.example"] }
        #expect(server?.message.contains("not reached by TLS") == true)
        let metadata = try await Self.failure { $0.metadata = "http://login.example/metadata" }
        #expect(metadata?.message.contains("not reached by TLS") == true)
        let none = try await Self.failure { $0.issuers = [] }
        #expect(none?.kind == .badAnswer)
    }

    @Test("A sign-in server without PKCE, without registration or with secrets is refused")
    func unsafe() async throws {
        let plain = try await Self.failure { $0.methods = ["plain"] }
        #expect(plain?.message.contains("PKCE") == true)
        let closed = try await Self.failure { $0.registration = nil }
        #expect(closed?.message.contains("register it there") == true)
        let secretive = try await Self.failure {
            $0.registration = ["client_id": "c", "token_endpoint_auth_method": "client_secret_post"]
        }
        #expect(secretive?.message.contains("secret") == true)
        let other = try await Self.failure { $0.issuer = "https://other.example" }
        #expect(other?.kind == .issuer)
    }

    @Test("A stored credential is read again, and a damaged one is not")
    func stored() throws {
        let session = Session(
            accessToken: Secret("a"), refreshToken: Secret("r"), received: Timestamp(microseconds: 0),
            origin: "https://a.example:443")
        let credential = ResourceCredential(
            session: session, resource: "https://a.example/mcp", issuer: "https://login.example",
            tokenEndpoint: try HTTPURL("https://login.example/token"), clientID: "c", method: .post,
            scopes: ["x", "y"])
        let read = try ResourceCredential(encoded: credential.encoded)
        #expect(read.resource == credential.resource && read.scopes == ["x", "y"] && read.clientID == "c")
        #expect(read.method == .post)
        #expect(read.session.refreshToken?.equals(Secret("r")) == true)
        for text in ["", "{}", #"{"version":2}"#, "[1]"] {
            #expect(throws: SignInError.self) { try ResourceCredential(encoded: Secret(text)) }
        }
    }
}
