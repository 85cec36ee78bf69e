import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Discovery of a platform", .timeLimit(.minutes(5)))
struct DiscoveryTests {
    @Test(
        "The API is found from an address with or without its path",
        arguments: [("/api", ""), ("/api", "/"), ("/api", "/api"), ("/api", "/api/"), ("", ""), ("/ai/api", "/ai")])
    func found(_ apiPath: String, _ typed: String) async throws {
        var setup = KamiwazaSetup()
        setup.apiPath = apiPath
        try await Lab.platform(setup) { server, api in
            let base = try await KamiwazaAddress(server.origin + typed).discover(using: api.client)
            #expect(try base == HTTPURL(server.api))
            // The first success ends the search, and no request carries a credential.
            #expect(server.count(.get, "\(apiPath)/auth/health") == 1)
            #expect(server.requests.allSatisfy { $0.credential == .none })
        }
    }

    @Test(
        "A response other than 200 with a JSON object is not accepted as a platform",
        arguments: [
            Fault.webPage(), .text("ok"), .json(bytes: Array("[1]".utf8)), .json(bytes: Array("\"ok\"".utf8)),
            .json(bytes: []), .status(.notFound), .status(.unauthorized), .status(.created),
            .webPage(status: .notFound),
        ])
    func somethingElse(_ fault: Fault) async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/health", with: fault)
            let error = await Lab.failure {
                _ = try await KamiwazaAddress(server.origin).discover(using: api.client)
            }
            #expect(error?.kind == .notAPlatform && error?.exit == .unreachable)
            #expect(error?.message.contains("check the address") == true, "\(error?.message ?? "")")
            #expect(server.requests.map(\.path) == ["/api/auth/health", "/auth/health"])
        }
    }

    @Test("A platform that is starting is distinguished from an address without one")
    func starting() async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = ImmediateClock()
        try await Lab.platform(KamiwazaSetup(), configuration) { server, api in
            server.fail("/api/auth/health", with: .text("no healthy upstream", status: .serviceUnavailable))
            let error = await Lab.failure {
                _ = try await KamiwazaAddress(server.origin).discover(using: api.client)
            }
            #expect(error?.kind == .notReady && error?.message.contains("no healthy upstream") == true)
            server.fail(
                "/api/auth/health", with: .text("no healthy upstream", status: .serviceUnavailable), times: 2)
            let base = try await KamiwazaAddress(server.origin).discover(using: api.client)
            #expect(base.path == "/api")
        }
    }

    @Test("If nothing listens, the error says so once and advises to check the address")
    func nothingThere() async throws {
        try await RefusingPort.run { port in
            try await Lab.client { client in
                let error = await Lab.failure {
                    _ = try await KamiwazaAddress("http://127.0.0.1:\(port)").discover(using: client)
                }
                #expect(error?.kind == .unreachable && error?.exit == .unreachable)
                #expect(error?.message.hasPrefix("cannot reach the server: ") == true)
                #expect(error?.message.contains("check") == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test("A host name that does not exist is reported as such")
    func noSuchName() async throws {
        try await Lab.client { client in
            let error = await Lab.failure {
                _ = try await KamiwazaAddress("nothing-here.invalid").discover(using: client)
            }
            #expect(error?.kind == .unreachable)
            #expect(error?.message.contains("nothing-here.invalid") == true, "\(error?.message ?? "")")
        }
    }

    @Test("Discovery never falls back from https to http")
    func noDowngrade() async throws {
        try await Lab.platform { server, api in
            let host = server.origin.dropFirst("http://".count)
            let error = await Lab.failure { _ = try await KamiwazaAddress("\(host)").discover(using: api.client) }
            #expect(error?.kind == .unreachable && server.requests.isEmpty)
        }
    }

    @Test("A redirect to another server is not followed, and the error names that server")
    func redirected() async throws {
        try await KamiwazaServer.run { other in
            try await Lab.platform { server, api in
                server.fail("/api/auth/health", with: .redirect(to: "\(other.api)/auth/health"))
                let error = await Lab.failure {
                    _ = try await KamiwazaAddress(server.origin).discover(using: api.client)
                }
                #expect(error?.kind == .redirected && other.requests.isEmpty)
                #expect(error?.message.contains(other.origin) == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test("The error of a refused certificate is passed on unchanged, and the server sees no request")
    func certificate() async throws {
        var setup = KamiwazaSetup()
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().selfSigned)
        try await Lab.platform(setup) { server, api in
            let error = await #expect(throws: HTTPError.self) {
                try await KamiwazaAddress(server.origin).discover(using: api.client)
            }
            #expect(error?.kind == .certificate && error?.certificate?.defects == [.selfSigned])
            #expect(error?.exit == .denied && server.requests.isEmpty)
            let login = await #expect(throws: HTTPError.self) {
                try await api.signIn(user: "ada", password: Lab.password)
            }
            #expect(login?.kind == .certificate && server.requests.isEmpty)
        }
    }

    @Test("A platform with a trusted certificate works over TLS")
    func trusted() async throws {
        var setup = KamiwazaSetup()
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().good)
        var configuration = HTTPClient.Configuration.standalone
        let authority = try TestCertificates.shared().authority
        configuration.trust = TrustDomain(authorities: .bytes(Array(authority.chainPEM.utf8)))
        try await Lab.session(setup, configuration) { server, api, _ in
            #expect(server.origin.hasPrefix("https://127.0.0.1:"))
            let user = try await api.whoAmI()
            #expect(user.name == "ada")
        }
    }
}
