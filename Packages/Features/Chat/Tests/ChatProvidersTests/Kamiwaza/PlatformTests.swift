import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import KamiwazaKit
import KamiwazaTesting
import Synchronization
import Testing

@Suite("Kamiwaza platform", .timeLimit(.minutes(5)))
struct PlatformTests {
    /// The deployments of a scripted platform, which a test changes.
    final class Board: Sendable {
        private let list: Mutex<[JSON]>

        init(_ list: [JSON]) {
            self.list = Mutex(list)
        }

        func set(_ new: [JSON]) { list.withLock { $0 = new } }

        /// Plays the platform: its API, and the models behind it.
        @Sendable func play(_ connection: ScriptedConnection) throws {
            let request = try connection.receiveRequest()
            let json: (Int, String) throws -> Void = { status, body in
                try connection.answer(status, ["Content-Type": "application/json", "Connection": "close"], body)
            }
            let all = list.withLock { $0 }
            switch request.target {
            case "/api/auth/health": try json(200, "{}")
            case "/api/serving/deployments": try json(200, JSON.array(all).text())
            case let path where path.hasSuffix("/chat/completions"):
                let isThere = all.contains { path.contains("/\($0["id"]?.string ?? "-")/") }
                guard isThere else { return try json(404, #"{"detail":"Not Found"}"#) }
                try connection.begin()
                try connection.send(Stream.hello)
            default: try json(404, #"{"detail":"Not Found"}"#)
            }
        }
    }

    @Test(
        "A platform is asked at the deployment's endpoint, with the model's name and the same key",
        arguments: ["", "/api"])
    func asks(path: String) async throws {
        let board = Board([DeploymentTests.json("d1", model: "llama")])
        try await Fixture.run(as: "kamiwaza", path: path, board.play) { fixture in
            let choice = try await fixture.directory.choice(of: "kamiwaza")
            #expect(choice.model == "llama")
            var request = ChatRequest.hello
            request.model = choice.model
            let text = try await fixture.heard.ask(choice.provider, request).message.text
            #expect(text == "Hello")
            let last = try #require(fixture.server.record.requests.last)
            #expect(last.target == "/runtime/models/d1/v1/chat/completions")
            #expect(last.json["model"] == "llama")
            #expect(last.headers["Authorization"] == "Bearer \(Fixture.key)")
        }
    }

    @Test("A platform is asked by the engine's name for a model, and lists the model's own name")
    func canonical() async throws {
        let board = Board([
            DeploymentTests.json("d1", model: "org/Qwen3-8B", ["canonical_model_id": "qwen3-8b"]),
            DeploymentTests.json("d2", model: "llama", ["canonical_model_id": nil]),
        ])
        try await Fixture.run(as: "kamiwaza", path: "/api", board.play) { fixture in
            let provider = try await fixture.provider()
            for (asked, sent) in [("org/Qwen3-8B", "qwen3-8b"), ("qwen3-8b", "qwen3-8b"), ("llama", "llama")] {
                _ = try await fixture.heard.ask(
                    provider, ChatRequest(model: asked, messages: [Message(.user, "Hello")]))
                #expect(fixture.server.record.requests.last?.json["model"]?.string == sent)
            }
            #expect(try await provider.models().map(\.id) == ["org/Qwen3-8B", "llama"])
        }
    }

    @Test("A platform without a model says what to do")
    func nothing() async throws {
        try await Fixture.run(as: "kamiwaza", path: "/api", Board([]).play) { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.directory.choice(of: "kamiwaza") }
            #expect(error?.kind == .noModel)
            #expect(error?.message.contains("deploy one there") == true)
        }
    }

    @Test("A model that disappears during a chat is an error that names the others")
    func gone() async throws {
        let board = Board([DeploymentTests.json("d1", model: "llama"), DeploymentTests.json("d2", model: "qwen")])
        try await Fixture.run(as: "kamiwaza", path: "/api", board.play) { fixture in
            let provider = try await fixture.provider()
            let request = ChatRequest(model: "llama", messages: [Message(.user, "Hello")])
            _ = try await fixture.heard.ask(provider, request)
            board.set([DeploymentTests.json("d2", model: "qwen")])
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(provider, request) }
            #expect(error?.kind == .modelGone)
            #expect(error?.message.contains("choose another, such as 'qwen'") == true)
        }
    }

    @Test("A model that has moved is asked at its new endpoint")
    func moved() async throws {
        let board = Board([DeploymentTests.json("d1", model: "llama")])
        try await Fixture.run(as: "kamiwaza", path: "/api", board.play) { fixture in
            let provider = try await fixture.provider()
            let request = ChatRequest(model: "llama", messages: [Message(.user, "Hello")])
            _ = try await fixture.heard.ask(provider, request)
            board.set([DeploymentTests.json("d9", model: "llama")])
            let text = try await fixture.heard.ask(provider, request).message.text
            #expect(text == "Hello")
            #expect(fixture.server.record.requests.last?.target == "/runtime/models/d9/v1/chat/completions")
        }
    }

    @Test("A key is not sent to another port without encryption")
    func otherPort() async throws {
        try await ScriptedServer.run {
            try $0.stream(Stream.hello)
        } during: { engine in
            let board = Board([DeploymentTests.json("d1", model: "llama", ["lb_port": .int(engine.port)])])
            try await Fixture.run(as: "kamiwaza", path: "/api", board.play) { fixture in
                let provider = try await fixture.provider()
                let error = await #expect(throws: ChatError.self) {
                    try await fixture.heard.ask(provider, ChatRequest(model: "llama", messages: []))
                }
                #expect(error?.kind == .forbidden)
                #expect(engine.record.connections.isEmpty)
            }
            // Without a key there is nothing to protect.
            try await Fixture.run(as: "kamiwaza", path: "/api", key: nil, board.play) { fixture in
                let provider = try await fixture.provider()
                let answer = try await fixture.heard.ask(provider, ChatRequest(model: "llama", messages: []))
                #expect(answer.message.text == "Hello")
            }
        }
    }

    @Test("A platform following the vendor's description serves its deployments to a signed-in user")
    func realShape() async throws {
        var platform = KamiwazaSetup()
        platform.deployments = [
            DeploymentTests.json("new", model: "qwen", at: "2026-02-01T00:00:00"),
            DeploymentTests.json("old", model: "llama", at: "2026-01-01T00:00:00"),
            DeploymentTests.json("off", model: "phi", ["status": "STOPPED"]),
        ]
        try await KamiwazaServer.run(platform) { server in
            let client = HTTPClient(.standalone)
            let api = KamiwazaAPI(try HTTPURL(server.api), client: client)
            let tokens = try await api.signIn(user: "ada", password: Secret("correct horse"))
            let token = tokens.accessToken.withText { $0 }
            for (last, expected) in [(nil, ["llama", "qwen"]), ("qwen", ["qwen", "llama"])] {
                var setup = ProviderSetup(environment: ["KAMIWAZA_BASE_URL": server.origin, "KAMIWAZA_API_KEY": token])
                setup.lastModel = { _ in last }
                let models = try await ProviderDirectory(setup).provider(named: "kamiwaza").models()
                #expect(models.map(\.id) == expected)
                await setup.client.close()
            }
            let setup = ProviderSetup(environment: ["KAMIWAZA_BASE_URL": server.origin])
            let error = await #expect(throws: ChatError.self) {
                try await ProviderDirectory(setup).provider(named: "kamiwaza").models()
            }
            #expect(error?.kind == .keyRefused)
            await setup.client.close()
            await client.close()
        }
    }
}
