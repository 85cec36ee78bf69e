import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("OpenID discovery", .timeLimit(.minutes(5)))
struct DiscoveryTests {
    /// Runs discovery against a server whose well-known address below `path` returns `answer` for its base address.
    private func discover(
        path: String = "", at well: String? = nil, _ answer: @escaping @Sendable (_ base: String) -> HTTPAnswer
    ) async throws -> OpenIDConfiguration? {
        let origin = Mutex("")
        let address = well ?? "\(path)/.well-known/openid-configuration"
        let route = Route(.get, address, "configuration", "How to sign in") {
            (_: ServerRequest) async throws -> HTTPAnswer in answer(origin.withLock { $0 } + path)
        }
        return try await withServer([route]) { found in
            origin.withLock { $0 = found }
            return try await withClient { client in
                try await OpenIDConfiguration.discover(at: try HTTPURL(found + path), using: client)
            }
        }
    }

    private static func document(_ base: String, _ change: (inout JSONObject) -> Void = { _ in }) -> HTTPAnswer {
        var members: JSONObject = [
            "issuer": .string(base), "authorization_endpoint": .string("\(base)/authorize"),
            "token_endpoint": .string("\(base)/token"), "response_types_supported": ["code", "id_token"],
            "code_challenge_methods_supported": ["S256"],
        ]
        change(&members)
        return .json(.object(members))
    }

    @Test("The OpenID Connect address after the issuer's path is used")
    func openID() async throws {
        let found = try #require(try await discover(path: "/realms/lab") { Self.document($0) })
        #expect(found.offersAuthorizationCode && !found.offersDeviceCode && !found.promisesIssuer)
        #expect(found.tokenEndpoint?.path == "/realms/lab/token")
    }

    @Test("The RFC 8414 address before the issuer's path is used")
    func oauth() async throws {
        let found = try await discover(path: "/lab", at: "/.well-known/oauth-authorization-server/lab") {
            Self.document($0) { $0["device_authorization_endpoint"] = .string("\($0["issuer"]?.string ?? "")/device") }
        }
        #expect(found?.offersDeviceCode == true)
    }

    @Test("A trailing slash of the issuer is ignored")
    func slash() async throws {
        let found = try await discover { base in Self.document(base) { $0["issuer"] = .string("\(base)/") } }
        #expect(found?.issuer.hasSuffix("/") == true)
    }

    @Test("A web page, an error, a redirect or other JSON gives no configuration")
    func absent() async throws {
        let answers: [@Sendable (String) -> HTTPAnswer] = [
            { _ in .bytes(Array("<!doctype html>".utf8), type: "text/html") }, { _ in .text("", status: .notFound) },
            { _ in .text("", status: .unauthorized) }, { _ in .redirect(to: "/login", status: HTTPStatus(302)) },
            { _ in .json(["openapi": "3.1.0"]) }, { _ in .json(["issuer"]) }, { _ in .empty() },
            { _ in .bytes([0xFF, 0xFE, 0x00], type: "application/json") },
            { _ in .bytes(Array(String(repeating: "[", count: 5000).utf8), type: "application/json") },
        ]
        for answer in answers { #expect(try await discover(answer) == nil) }
    }

    @Test("A configuration of another server is rejected")
    func otherIssuer() async throws {
        for issuer in ["https://evil.example", "http://127.0.0.1:1", "evil", "https://u:p@evil.example/"] {
            let error = await #expect(throws: SignInError.self) {
                try await discover { base in Self.document(base) { $0["issuer"] = .string(issuer) } }
            }
            #expect(error?.kind == .issuer && error?.exit == .denied)
        }
    }

    @Test(
        "Endpoints without TLS are rejected",
        arguments: ["http://lab.example/token", "ftp://lab.example/token", "token", ""])
    func withoutTLS(endpoint: String) async throws {
        let error = await #expect(throws: SignInError.self) {
            try await discover { base in Self.document(base) { $0["token_endpoint"] = .string(endpoint) } }
        }
        #expect(error?.kind == .badAnswer)
    }

    @Test("A remote server must not name local endpoints, or any endpoint without TLS")
    func loopback() throws {
        let base = try HTTPURL("https://lab.example")
        func read(_ token: String) throws -> OpenIDConfiguration? {
            try OpenIDConfiguration(["issuer": "https://lab.example", "token_endpoint": .string(token)], base: base)
        }
        #expect(try read("https://tokens.example/t")?.tokenEndpoint?.host == "tokens.example")
        for token in ["http://127.0.0.1:8080/t", "https://localhost/t", "http://[::1]/t", "http://lab.example/t"] {
            #expect(throws: SignInError.self) { try read(token) }
        }
    }

    @Test("The code flow is offered only with PKCE and S256")
    func withoutPKCE() async throws {
        let changes: [@Sendable (inout JSONObject) -> Void] = [
            { $0["code_challenge_methods_supported"] = nil }, { $0["code_challenge_methods_supported"] = ["plain"] },
            { $0["response_types_supported"] = ["token"] }, { $0["authorization_endpoint"] = nil },
            { $0["grant_types_supported"] = ["password"] },
        ]
        for change in changes {
            let found = try #require(try await discover { base in Self.document(base, change) })
            #expect(!found.offersAuthorizationCode)
        }
    }

    @Test("A server that fails or is unreachable gives a retryable error")
    func unreachable() async throws {
        let error = await #expect(throws: SignInError.self) {
            try await discover { _ in .text("no healthy upstream", status: .serviceUnavailable) }
        }
        #expect(error?.kind == .unreachable && error?.exit == .unreachable)
        try await RefusingPort.run { port in
            try await withClient { client in
                let base = try HTTPURL("http://127.0.0.1:\(port)")
                let error = await #expect(throws: SignInError.self) {
                    try await OpenIDConfiguration.discover(at: base, using: client)
                }
                #expect(error?.kind == .unreachable && error?.cause is HTTPError)
            }
        }
    }
}
