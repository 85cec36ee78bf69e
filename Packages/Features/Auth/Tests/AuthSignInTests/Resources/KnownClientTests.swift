import Capabilities
import HTTPClient
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Clients of resources", .timeLimit(.minutes(1)))
struct KnownClientTests {
    /// A provider that offers every way to become known.
    private static func faults(_ change: @escaping @Sendable (inout JSONObject) -> Void = { _ in }) -> Provider.Faults {
        var faults = Provider.Faults()
        faults.configuration = { members in
            let origin = members["issuer"]?.string ?? ""
            members["registration_endpoint"] = .string("\(origin)/register")
            members["client_id_metadata_document_supported"] = true
            change(&members)
        }
        return faults
    }

    private static let document = "https://martlet.example/client.json"
    private static let secrets: @Sendable (SecretName) async throws -> Secret? = {
        $0 == "login" ? Secret("s3cret of ours") : nil
    }

    @Test(
        "A client that was registered by hand comes first, with its secret as the server wants it",
        arguments: [nil, ["client_secret_post", "client_secret_basic"]] as [JSON?])
    func known(methods: JSON?) async throws {
        try await SignInBench.run(Self.faults { $0["token_endpoint_auth_methods_supported"] = methods }) { bench in
            let known = KnownClient(issuer: "\(bench.provider.origin)/", id: "known-7", secret: "login")
            let sessions = bench.sessions(
                as: ResourceClient(name: "Martlet", known: [known], document: Self.document, secret: Self.secrets))
            try await bench.signIn(sessions)
            let first = try #require(try await bench.token(sessions))
            // The renewal proves who it is too.
            try await bench.signIn(sessions, refusing: first)
            #expect(try await bench.token(sessions) != first && bench.shown.addresses.count == 1)
            #expect(bench.shown.addresses.first?.query?.contains("client_id=known-7") == true)
            #expect(bench.provider.registrations.isEmpty)
            let requests = bench.provider.tokenRequests
            #expect(requests.map { $0["grant_type"] } == ["authorization_code", "refresh_token"])
            #expect(requests.allSatisfy { $0["client_id"] == "known-7" })
            if methods == nil {
                let basic = "Basic \(Base64.encode(Array("known-7:s3cret%20of%20ours".utf8)))"
                #expect(bench.provider.credentials == [basic, basic])
                #expect(requests.allSatisfy { $0["client_secret"] == nil })
            } else {
                #expect(bench.provider.credentials == [nil, nil])
                #expect(requests.allSatisfy { $0["client_secret"] == "s3cret of ours" })
            }
            let stored = try #require(try await bench.store.credential(for: bench.provider.resource)).revealed
            #expect(!stored.contains("s3cret"))
            await sessions.close()
        }
    }

    @Test("A document comes before registration where the server accepts it, and only there")
    func document() async throws {
        for accepted in [true, false] {
            let faults = Self.faults { $0["client_id_metadata_document_supported"] = .bool(accepted) }
            try await SignInBench.run(faults) { bench in
                let other = KnownClient(issuer: "https://login.example", id: "other")
                let sessions = bench.sessions(
                    as: ResourceClient(name: "Martlet", known: [other], document: Self.document))
                try await bench.signIn(sessions)
                let id = bench.provider.tokenRequests.first?["client_id"]
                #expect(id == (accepted ? Self.document : "registered-1"))
                #expect(bench.provider.registrations.count == (accepted ? 0 : 1))
                await sessions.close()
            }
        }
    }

    @Test("Without any of them the error names the setting")
    func unknown() async throws {
        try await SignInBench.run { bench in
            let sessions = bench.sessions()
            let error = await #expect(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error?.kind == .client && error?.exit == .denied)
            #expect(error?.message.contains("auth.resource-clients") == true)
            #expect(error?.message.contains(#"{"issuer": "\#(bench.provider.origin)", "client-id": "ID"}"#) == true)
            #expect(bench.shown.addresses.isEmpty)
            await sessions.close()
        }
    }

    @Test(
        "Settings that cannot be used are refused with what to do",
        arguments: [
            (KnownClient(id: "c"), "needs the issuer"),
            (KnownClient(issuer: "https://a.example", id: ""), "no client id"),
            (KnownClient(resource: "https://a.example/mcp", id: "c", secret: "s"), "needs the issuer too"),
            (KnownClient(issuer: "http://login.example", id: "c"), "https://"),
            (KnownClient(resource: "ftp://login.example", id: "c"), "https://"),
        ])
    func wrong(client: KnownClient, words: String) async throws {
        try await SignInBench.run(Self.faults()) { bench in
            let sessions = bench.sessions(as: ResourceClient(name: "Martlet", known: [client]))
            let error = await #expect(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error?.kind == .client && error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("auth.resource-clients") == true)
            await sessions.close()
        }
    }

    @Test(
        "A document without TLS or without a path is no client id",
        arguments: ["http://a.example/c", "https://a.example"])
    func wrongDocument(address: String) async throws {
        try await SignInBench.run(Self.faults()) { bench in
            let sessions = bench.sessions(as: ResourceClient(name: "Martlet", document: address))
            let error = await #expect(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error?.kind == .client && error?.message.contains("auth.client-id-document") == true)
            #expect(bench.shown.addresses.isEmpty)
            await sessions.close()
        }
    }

    @Test("A secret that is missing is named, and the session outlives that")
    func missingSecret() async throws {
        try await SignInBench.run(Self.faults()) { bench in
            let isThere = Mutex(false)
            let known = KnownClient(issuer: bench.provider.origin, id: "known-7", secret: "login")
            let sessions = bench.sessions(
                as: ResourceClient(name: "Martlet", known: [known]) { _ in
                    isThere.withLock { $0 } ? Secret("s3cret") : nil
                })
            let error = await #expect(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error?.kind == .client && error?.message.contains("martlet auth secret set login") == true)
            #expect(bench.shown.addresses.isEmpty)
            isThere.withLock { $0 = true }
            try await bench.signIn(sessions)
            isThere.withLock { $0 = false }
            bench.provider.time.move(by: .seconds(400))
            let renewal = await #expect(throws: SignInError.self) { _ = try await bench.token(sessions) }
            #expect(renewal?.kind == .client)
            isThere.withLock { $0 = true }
            bench.provider.time.move(by: .seconds(60))
            #expect(try await bench.token(sessions) != nil && bench.shown.addresses.count == 1)
            await sessions.close()
        }
    }

    @Test("The client that fits best is used, and no other one's session")
    func fit() async throws {
        try await SignInBench.run(Self.faults()) { bench in
            let origin = bench.provider.origin
            let unknown = bench.sessions()
            try await bench.signIn(unknown)
            #expect(try await bench.token(unknown) != nil)
            await unknown.close()
            let known = [
                KnownClient(issuer: origin, resource: "\(origin)/mcp", id: "both"),
                KnownClient(resource: "\(origin)/", id: "resource"), KnownClient(issuer: origin, id: "issuer"),
                KnownClient(resource: "\(origin)/mcp/below", id: "below"),
                KnownClient(issuer: "https://login.example", resource: "\(origin)/mcp", id: "elsewhere"),
            ]
            for (count, id) in ["both", "resource", "issuer"].enumerated() {
                let sessions = bench.sessions(as: ResourceClient(name: "Martlet", known: Array(known[count...])))
                // What the client before got is not sent for this one.
                #expect(try await bench.token(sessions) == nil)
                try await bench.signIn(sessions)
                #expect(try await bench.token(sessions) != nil)
                #expect(bench.provider.tokenRequests.last?["client_id"] == id)
                await sessions.close()
            }
        }
    }

    @Test("A server that repeats the secret does not get it into an error")
    func repeated() async throws {
        var faults = Self.faults()
        faults.token = { form in
            .json(
                ["error": "invalid_client", "error_description": .string("not \(form["client_secret"] ?? "")")], 401)
        }
        let change = faults.configuration
        faults.configuration = { members in
            change(&members)
            members["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        }
        try await SignInBench.run(faults) { bench in
            let known = KnownClient(issuer: bench.provider.origin, id: "known-7", secret: "login")
            let sessions = bench.sessions(
                as: ResourceClient(name: "Martlet", known: [known], secret: Self.secrets))
            let error = try await #require(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error.kind == .refused)
            expectClean(error, of: "s3cret of ours")
            await sessions.close()
        }
    }

    @Test("A server that accepts no secret in a known way is not sent it")
    func otherMethods() async throws {
        let faults = Self.faults { $0["token_endpoint_auth_methods_supported"] = ["private_key_jwt"] }
        try await SignInBench.run(faults) { bench in
            let known = KnownClient(issuer: bench.provider.origin, id: "known-7", secret: "login")
            let sessions = bench.sessions(as: ResourceClient(name: "Martlet", known: [known], secret: Self.secrets))
            let error = await #expect(throws: SignInError.self) { try await bench.signIn(sessions) }
            #expect(error?.kind == .client && bench.provider.tokenRequests.isEmpty)
            await sessions.close()
        }
    }
}
