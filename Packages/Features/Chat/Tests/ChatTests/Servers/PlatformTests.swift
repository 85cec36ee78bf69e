import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import KamiwazaTesting
import Registry
import Synchronization
import Testing

@Suite("Messages to a platform", .timeLimit(.minutes(5)))
struct PlatformTests {
    /// The models of a scripted platform, which a test changes.
    private final class Platform: Sendable {
        private let models: Mutex<[String]>
        private let breaks: Bool

        /// One status refuses streams, and the other everything.
        private let streamStatus: Int?
        private let status: Int?

        init(_ models: String..., breaks: Bool = false, streamStatus: Int? = nil, status: Int? = nil) {
            self.models = Mutex(models)
            self.breaks = breaks
            self.streamStatus = streamStatus
            self.status = status
        }

        func serve(_ names: String...) { models.withLock { $0 = names } }

        /// The oldest deployment first.
        static func deployments(_ names: [String]) -> [JSON] {
            names.enumerated().map { place, name in
                [
                    "id": .string("d-\(name)"), "m_name": .string(name), "status": "DEPLOYED",
                    "deployed_at": .string("2026-01-0\(place + 1)T00:00:00"),
                    "instances": [["id": "i", "status": "DEPLOYED"]],
                ]
            }
        }

        @Sendable func play(_ connection: ScriptedConnection) throws {
            let request = try connection.receiveRequest()
            let names = models.withLock { $0 }
            switch request.target {
            case "/api/auth/health": try connection.respond("{}")
            case "/api/serving/deployments": try connection.respond(JSON.array(Self.deployments(names)).text())
            case let path where path.hasSuffix("/v1/chat/completions"):
                guard names.contains(where: { path.contains("/d-\($0)/") }) else {
                    return try connection.respond(#"{"detail":"Not Found"}"#, status: 404)
                }
                if let status { return try connection.respond(#"{"detail":"Not Found"}"#, status: status) }
                if let streamStatus, request.json["stream"] == true {
                    return try connection.respond(#"{"detail":"Internal Server Error"}"#, status: streamStatus)
                }
                if breaks, request.json["stream"] == true { return try connection.begin() }
                if request.json["stream"] != true { return try connection.respond(Self.whole) }
                try connection.begin()
                try connection.send(Answers.say("I am \(request.json["model"]?.string ?? "")"))
            default: try connection.respond(#"{"detail":"Not Found"}"#, status: 404)
            }
        }

        private static let whole = #"""
            {"id":"c2","object":"chat.completion","model":"small-1","choices":[{"index":0,"message":{"role":"assistant",
            "content":"All at once"},"finish_reason":"stop"}]}
            """#
    }

    private func withPlatform(
        _ platform: Platform, isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        try await Desk.run(platform.play) { desk in
            desk.environment = [
                "KAMIWAZA_BASE_URL": "http://127.0.0.1:\(desk.server.port)", "KAMIWAZA_API_KEY": Desk.key,
            ]
            try await body(&desk)
        }
    }

    @Test("The oldest deployment is used, and then the last one used while it exists")  // row K-08
    func choice() async throws {
        let platform = Platform("llama", "qwen")
        try await withPlatform(platform) { desk in
            #expect(try await desk.say("Who?")["result"] == "I am llama")
            #expect(try await desk.say("Who?", ["model": "kamiwaza/qwen"])["result"] == "I am qwen")
            #expect(try await desk.say("Who?")["result"] == "I am qwen")
            platform.serve("llama", "phi")
            #expect(try await desk.say("Who?")["result"] == "I am llama")
            platform.serve()
            let done = try await desk.attempt("chat.send", ["message": "Who?"])
            #expect(done.failure?.code == "chat.no-model" && done.exit == .usage)
            #expect(done.failure?.message.contains("deploy one there") == true)
        }
    }

    @Test("The default temperature is 0.7")  // row K-15
    func temperature() async throws {
        try await withPlatform(Platform("llama")) { desk in
            try await desk.say("Hi")
            #expect(desk.asked.last?.json["temperature"] == 0.7)
            #expect(desk.asked.last?.said.first == "system: You are a helpful assistant.")
            try await desk.say("Hi", ["temperature": 1.3])
            #expect(desk.asked.last?.json["temperature"] == 1.3)
            desk.settings = "{chat: {temperature: 0.1}}"
            try await desk.say("Hi")
            #expect(desk.asked.last?.json["temperature"] == 0.1)
            try await desk.say("Hi", ["continue": true, "model": "kamiwaza/llama"])
            #expect(desk.asked.last?.json["temperature"] == 0.1)
        }
    }

    @Test("A switch to another model applies from then on, and a single model offers no choice")  // row K-09
    func switching() async throws {
        let platform = Platform("llama", "qwen")
        try await withPlatform(platform) { desk in
            desk.person = ScriptedPerson(["chat.message": ["one", "/model", "two", "/quit"], "chat.model": ["qwen"]])
            let done = try await desk.run("chat.send")
            #expect(done.notices.contains("kamiwaza, qwen answers from now on"))
            let id = try #require(done["session_id"])
            let shown = try await desk.run("chat.show", ["conversation": id])["messages"]?.array ?? []
            #expect(shown.map { $0["text"] } == ["one", "I am llama", "two", "I am qwen"])
            platform.serve("llama")
            let person = ScriptedPerson(types: "/model", "/quit")
            desk.person = person
            #expect(try await desk.run("chat.send").notices.contains("llama"))
            #expect(!person.asked.contains("chat.model"))
        }
    }

    @Test("A model that disappears is replaced by one that the user picks")  // row K-20
    func gone() async throws {
        let platform = Platform("llama", "qwen")
        try await withPlatform(platform) { desk in
            let id = try #require(try await desk.say("one")["session_id"])
            platform.serve("qwen", "phi")
            let alone = try await desk.attempt("chat.send", ["message": "two", "conversation": id])
            #expect(alone.failure?.code == "chat.model-gone")
            #expect(alone.failure?.message.contains("choose another, such as 'qwen', 'phi'") == true)
            desk.person = ScriptedPerson(["chat.message": ["three", "four"], "chat.model": ["phi"]])
            let done = try await desk.run("chat.send", ["conversation": id])
            #expect(done.output.text.contains("I am phi"))
            #expect(desk.asked.last?.said.suffix(3) == ["user: three", "assistant: I am phi", "user: four"])
        }
    }

    @Test("An answer is requested without streaming if the stream breaks before any output")  // row K-10
    func fallback() async throws {
        try await withPlatform(Platform("llama", breaks: true)) { desk in
            let done = try await desk.say("Hi")
            #expect(done["result"] == "All at once")
            #expect(done.notices.contains("waiting for the complete answer"), "\(done.notices)")
        }
    }

    @Test("An answer is requested without streaming if the stream fails with a server error")  // row K-10
    func streamRefused() async throws {
        try await withPlatform(Platform("llama", streamStatus: 500)) { desk in
            let done = try await desk.say("Hi")
            #expect(done["result"] == "All at once")
            #expect(done.notices.contains("asking for the complete answer"), "\(done.notices)")
        }
        try await withPlatform(Platform("llama", status: 500)) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(done.failure?.code == "chat.server-failed")
            #expect(desk.asked.count == 2)
        }
    }

    @Test("A deployment that is listed but missing is reported, with the others")  // row K-20
    func notFound() async throws {
        try await withPlatform(Platform("llama", "qwen", status: 404)) { desk in
            let done = try await desk.attempt("chat.send", ["message": "Hi", "model": "kamiwaza/llama"])
            #expect(done.failure?.code == "chat.model-gone" && done.exit == .failed)
            let words = done.failure?.message ?? ""
            #expect(words.contains("cannot find the deployment of “llama”"), "\(words)")
            #expect(words.contains("choose another, such as 'qwen'"), "\(words)")
        }
    }

    @Test("A conversation stores the deployment that answered, and its address")  // row K-11
    func deployment() async throws {
        try await withPlatform(Platform("llama")) { desk in
            try await desk.say("Hi")
            let kept = try await desk.run("chat.list").json[0]
            #expect(kept?["deployment"] == "d-llama")
            #expect(kept?["server"]?.string == "http://127.0.0.1:\(desk.server.port)/")
        }
    }

    @Test("A platform following the vendor's description needs a signed-in user")  // row K-20
    func signedOut() async throws {
        var setup = KamiwazaSetup()
        setup.deployments = Platform.deployments(["llama"])
        try await KamiwazaServer.run(setup) { server in
            try await Desk.run(answers: "") { desk in
                desk.environment = ["KAMIWAZA_BASE_URL": server.origin]
                let done = try await desk.attempt("chat.send", ["message": "Hi"])
                #expect(done.failure?.code == "chat.key-refused" && done.exit == .denied)
            }
        }
    }
}
