import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import OpenAIDialect
import Synchronization
import Testing

@Suite("Model choice", .timeLimit(.minutes(5)))
struct ChoiceTests {
    private static let models = #"{"data":[{"id":"llama3:8b"},{"id":"llama3:70b"},{"id":"qwen3:14b"}]}"#

    /// A directory with a local server at the port of `server`.
    private func makeDirectory(
        _ environment: [String: String] = [:], local server: ScriptedServer? = nil,
        _ change: (inout ProviderSetup) -> Void = { _ in }
    ) -> ProviderDirectory {
        var setup = ProviderSetup(environment: environment)
        if let server {
            setup.localServers = [LocalServer(id: "ollama", name: "Ollama", port: server.port, quirks: .ollama)]
            setup.agreed = ["ollama"]
        }
        change(&setup)
        return ProviderDirectory(setup)
    }

    private func withLocal(_ body: (ScriptedServer) async throws -> Void) async throws {
        try await ScriptedServer.run {
            try $0.reply(Self.models)
        } during: {
            try await body($0)
        }
    }

    private func expect(
        _ name: String, in directory: ProviderDirectory, means model: String, of provider: String = "ollama"
    ) async throws {
        let choice = try await directory.choice(of: name)
        #expect(choice.model == model)
        #expect(choice.provider.id == provider)
    }

    private let key = ["OPENAI_API_KEY": Fixture.key]

    @Test("A vendor with a key is chosen without any request")
    func environment() async throws {
        let choice = try await makeDirectory(key).choice()
        #expect(choice.provider.id == "openai")
        #expect(choice.model == "gpt-5-mini")
        #expect(choice.description?.contextTokens != nil)
    }

    @Test("The model last used with that vendor is chosen")
    func last() async throws {
        let choice = try await makeDirectory(key) { $0.lastModel = { $0 == "openai" ? "gpt-4o" : nil } }.choice()
        #expect(choice.model == "gpt-4o")
    }

    @Test("The configured default comes before everything else, and a name before that")
    func configured() async throws {
        let directory = makeDirectory(key) {
            $0.defaultModel = "anthropic/claude-haiku-4-5"
            $0.environment["ANTHROPIC_API_KEY"] = Fixture.key
        }
        let id = try await directory.choice().provider.id
        #expect(id == "anthropic")
        let model = try await directory.choice().model
        #expect(model == "claude-haiku-4-5")
        try await expect("openai/some-new-model", in: directory, means: "some-new-model", of: "openai")
    }

    @Test("The profile in use comes before a key in the environment")
    func profile() async throws {
        let directory = makeDirectory(key) {
            $0.servers = [ChatServer(name: "lab", address: "http://127.0.0.1:1", kind: .gateway)]
            $0.profile = "lab"
        }
        let choice = try await directory.choice()
        #expect(choice.provider.id == "lab")
        #expect(choice.model == "")
    }

    @Test("A server on this machine is chosen if there is nothing else")
    func local() async throws {
        try await withLocal { server in
            let choice = try await makeDirectory(local: server).choice()
            #expect(choice.provider.id == "ollama")
            #expect(choice.model == "llama3:8b")
            #expect(server.record.requests.allSatisfy { $0.headers["Authorization"] == nil })
        }
    }

    @Test(
        "A server merely found on this machine is not chosen without approval", arguments: [nil, "qwen"])
    func notAgreed(name: String?) async throws {
        try await withLocal { server in
            let directory = makeDirectory(local: server) { $0.agreed = [] }
            let error = await #expect(throws: ChatError.self) { try await directory.choice(of: name) }
            #expect(error?.kind == .notAgreed && error?.exit == .usage)
            let choice = try await directory.choice(of: name) { $0.id == "ollama" }
            #expect(choice.provider.id == "ollama")
            try await expect("ollama/qwen3:14b", in: directory, means: "qwen3:14b")
        }
    }

    @Test("Without any provider, three lines say what can be done")
    func nobody() async throws {
        let directory = makeDirectory()
        let error = await #expect(throws: ChatError.self) { try await directory.choice() }
        #expect(error?.kind == .noProvider)
        let lines = try #require(error).message.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].contains("OPENAI_API_KEY"))
    }

    @Test("An agent listening at a usual port is never chosen")
    func agent() async throws {
        try await ScriptedServer.run {
            try $0.reply(#"{"data":[{"id":"claude-sonnet","owned_by":"anthropic-claude"}]}"#)
        } during: { server in
            let error = await #expect(throws: ChatError.self) { try await makeDirectory(local: server).choice() }
            #expect(error?.kind == .noProvider)
        }
    }

    @Test(
        "An unrelated program listening at a usual port is never chosen", arguments: ["<html>", "{}", #"{"data":[]}"#])
    func stranger(body: String) async throws {
        try await ScriptedServer.run {
            try $0.reply(body)
        } during: { server in
            #expect(await makeDirectory(local: server).available().isEmpty)
        }
    }

    @Test("The choice does not wait for a program that never answers")
    func silent() async throws {
        try await ScriptedServer.run {
            try $0.stall()
        } during: { server in
            let start = ContinuousClock.now
            #expect(await makeDirectory(local: server).available().isEmpty)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("A model is named by provider, by provider and model, by model alone, or by its beginning")
    func names() async throws {
        try await RefusingPort.run { port in
            try await withLocal { server in
                let directory = makeDirectory(key, local: server) {
                    // This must not request a vendor's list over the network.
                    $0.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:\(port)/v1"
                }
                try await expect("ollama", in: directory, means: "llama3:8b")
                try await expect("ollama/qwen3:14b", in: directory, means: "qwen3:14b")
                try await expect("gpt-4o", in: directory, means: "gpt-4o", of: "openai")
                try await expect("qwen", in: directory, means: "qwen3:14b")
                try await expect("gpt-9-brand-new", in: directory, means: "gpt-9-brand-new", of: "openai")
                let error = await #expect(throws: ChatError.self) { try await directory.choice(of: "llama3") }
                #expect(error?.kind == .ambiguousModel)
                #expect(error?.message.contains("llama3:70b") == true)
            }
        }
    }

    /// Stores one key, and counts how often its names were listed.
    final class Keys: SecretStore {
        let asked = Mutex(0)

        func secret(named name: SecretName) async -> Secret? { nil }
        func store(_ secret: Secret, named name: SecretName) async {}
        func remove(named name: SecretName) async {}
        func names() async -> [SecretName] {
            asked.withLock { $0 += 1 }
            return ["openrouter"]
        }
    }

    final class Nobody: Authenticator {
        func sign(_ request: inout RequestHead, for server: ServerID) async {}
        func renew(_ refused: RequestHead, for server: ServerID) async -> Bool { false }
    }

    @Test("A vendor with a stored key is chosen, and no key is opened if the environment has one")
    func keptKey() async throws {
        for (environment, expected) in [([:], "openrouter"), (key, "openai")] {
            let keys = Keys()
            let directory = makeDirectory(environment) {
                $0.secrets = keys
                $0.authenticator = Nobody()
            }
            let choice = try await directory.choice()
            #expect(choice.provider.id == expected)
            #expect((keys.asked.withLock { $0 } == 0) == (expected == "openai"))
        }
    }

    @Test("A variable without a valid address is reported when its provider is used")
    func badAddress() async throws {
        let choice = try await makeDirectory(["OPENAI_BASE_URL": "ftp://x"]).choice()
        let error = await #expect(throws: ChatError.self) { try await Heard().ask(choice.provider) }
        #expect(error?.kind == .badAddress)
        #expect(error?.message.hasPrefix("OPENAI_BASE_URL: ") == true)
    }

    @Test("A well-known model name is resolved without the network")
    func known() async throws {
        try await withLocal { server in
            let directory = makeDirectory(key, local: server)
            try await expect("gpt-4o", in: directory, means: "gpt-4o", of: "openai")
            try await expect("gpt-5-2026-01-01", in: directory, means: "gpt-5-2026-01-01", of: "openai")
            #expect(server.record.connections.isEmpty)
        }
    }

    @Test("An unknown name is an error with the nearest name")
    func unknown() async throws {
        try await withLocal { server in
            let directory = makeDirectory(local: server)
            let model = await #expect(throws: ChatError.self) { try await directory.choice(of: "qwen3:14c") }
            #expect(model?.kind == .modelNotFound)
            #expect(model?.message.contains("did you mean 'qwen3:14b'") == true)
            let provider = await #expect(throws: ChatError.self) { try await directory.provider(named: "olama") }
            #expect(provider?.kind == .unknownProvider)
            #expect(provider?.message.contains("did you mean 'ollama'?") == true)
        }
    }

    @Test(
        "A vendor without a key is refused with the missing variable",
        arguments: ["anthropic", "anthropic/claude-haiku-4-5", "claude-haiku-4-5"])
    func noKey(name: String) async throws {
        let directory = makeDirectory()
        let error = await #expect(throws: ChatError.self) { try await directory.choice(of: name) }
        #expect(error?.kind == .noKey)
        #expect(error?.message.contains("ANTHROPIC_API_KEY") == true)
        // The store has a key for another vendor.
        let keeping = makeDirectory {
            $0.secrets = Keys()
            $0.authenticator = Nobody()
        }
        let other = await #expect(throws: ChatError.self) { try await keeping.choice(of: name) }
        #expect(other?.kind == .noKey)
        #expect(other?.message.contains("auth secret set anthropic") == true)
    }

    @Test("A server that is not running is refused with its address")
    func notRunning() async throws {
        try await RefusingPort.run { port in
            let directory = makeDirectory {
                $0.localServers = [LocalServer(id: "ollama", name: "Ollama", port: port, quirks: .ollama)]
            }
            let error = await #expect(throws: ChatError.self) { try await directory.choice(of: "ollama/llama3") }
            #expect(error?.kind == .unreachable)
            #expect(error?.message.contains("127.0.0.1:\(port)") == true)
        }
    }
}
