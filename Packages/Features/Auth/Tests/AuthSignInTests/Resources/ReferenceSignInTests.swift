import Capabilities
import HTTPClient
import JSON
import MCPKit
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Signing in at the reference SDKs' own servers", .timeLimit(.minutes(2)))
struct ReferenceSignInTests {
    /// The person's sessions at a server, with a browser that follows redirects.
    private struct Desk: Sendable {
        let server: ReferenceServer
        let sessions: ResourceSessions
        let time = TestTime()
        let opened = SignInBench.Shown()

        init(_ server: ReferenceServer, as identity: ResourceClient = ResourceClient(name: "Martlet")) {
            self.server = server
            let opened = opened
            sessions = ResourceSessions(
                in: MemoryStore(), as: identity, client: server.client, now: time.clock,
                ask: .init { _ in
                } show: { url in
                    opened.add(url)
                    try await Curl.browse(url.text)
                })
        }

        /// Calls the server's tool, each time as a program does that has just started.
        func add(_ a: Int, _ b: Int) async throws -> [ToolPart] {
            let address = MCPServerAddress(try HTTPURL("\(server.origin)/mcp"))
            let client = address.client(
                of: "protected", by: server.client, as: MCPIdentity(name: "tests", version: "1"), signIn: sessions)
            return try await client.whileRunning { try await client.call("add", ["a": .int(a), "b": .int(b)]).parts }
        }
    }

    // One server for both, since it takes long to start.
    @Test(
        "A person signs in, stays signed in, and signs in again when that ends", arguments: ReferenceServer.SDK.allCases
    )
    func reference(sdk: ReferenceServer.SDK) async throws {
        try await ReferenceServer.run(sdk) { server in
            try await Self.staysSignedIn(server)
            try await Self.needsMoreScopes(server)
        }
    }

    private static func staysSignedIn(_ server: ReferenceServer) async throws {
        let desk = Desk(server)
        #expect(try await desk.add(40, 2) == [.text("42")])
        #expect(try await server.news(after: 0) == ["register none", "authorize use more"])
        #expect(desk.opened.addresses.count == 1)
        // The server says that the token has expired, and then this side knows it before.
        try await server.tell("expire")
        #expect(try await desk.add(1, 2) == [.text("3")])
        desk.time.move(by: .seconds(3600))
        #expect(try await desk.add(2, 2) == [.text("4")])
        #expect(try await server.news(after: 2) == ["refresh", "refresh"])
        // A token that nobody knows any more, and nothing to renew it with.
        try await server.tell("forget")
        #expect(try await desk.add(3, 2) == [.text("5")])
        #expect(try await server.news(after: 4) == ["register none", "authorize use more"])
        #expect(desk.opened.addresses.count == 2)
        await desk.sessions.close()
    }

    private static func needsMoreScopes(_ server: ReferenceServer) async throws {
        let before = try await server.news(after: 0).count
        let known = KnownClient(issuer: server.origin, id: "known", secret: "login")
        let desk = Desk(
            server, as: ResourceClient(name: "Martlet", known: [known]) { _ in Secret("s3cret/of ours") })
        try await server.tell("less")
        // Each call asks once for what is missing, and then gives up.
        for count in [1, 2] {
            let error = await #expect(throws: MCPError.self) { try await desk.add(40, 2) }
            #expect(error?.kind == .denied && desk.opened.addresses.count == count, "\(error?.message ?? "")")
        }
        try await server.tell("all")
        #expect(try await desk.add(40, 2) == [.text("42")])
        #expect(desk.opened.addresses.count == 3)
        // The client that was registered by hand proved who it is each time, and no other one was registered.
        #expect(try await server.news(after: before) == Array(repeating: "authorize use more", count: 3))
        // What is forgotten is sent no more.
        let resource = ResourceAddress("\(server.origin)/mcp")
        #expect(try await desk.sessions.forget(resource))
        var head = RequestHead(method: "POST", url: resource.text)
        try await desk.sessions.sign(&head, for: resource)
        #expect(head.headers.isEmpty)
        await desk.sessions.close()
        // Another secret is not accepted.
        let other = Desk(server, as: ResourceClient(name: "Martlet", known: [known]) { _ in Secret("guessed") })
        let refused = await #expect(throws: MCPError.self) { try await other.add(1, 1) }
        #expect(refused?.kind == .denied)
        await other.sessions.close()
    }
}
