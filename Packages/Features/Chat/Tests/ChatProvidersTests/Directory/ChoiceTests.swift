import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import OpenAIDialect
import Synchronization
import Testing

@Suite("Which model is asked", .timeLimit(.minutes(5)))
struct ChoiceTests {
    private static let models = #"{"data":[{"id":"llama3:8b"},{"id":"llama3:70b"},{"id":"qwen3:14b"}]}"#

    /// A directory in which some local server answers at the port of `server`.
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

    @Test("is one of a vendor with a key, without asking anybody")
    func environment() async throws {
        let choice = try await makeDirectory(key).choice()
        #expect(choice.provider.id == "openai")
        #expect(choice.model == "gpt-5-mini")
        #expect(choice.description?.contextTokens != nil)
    }

    @Test("is what was used last with that vendor")
    func last() async throws {
        let choice = try await makeDirectory(key) { $0.lastModel = { $0 == "openai" ? "gpt-4o" : nil } }.choice()
        #expect(choice.model == "gpt-4o")
    }

    @Test("is the configured default before anything else, and a name before that")
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

    @Test("is that of the profile in use before a key in the environment")
    func profile() async throws {
        let directory = makeDirectory(key) {
            $0.servers = [ChatServer(name: "lab", address: "http://127.0.0.1:1", kind: .gateway)]
            $0.profile = "lab"
        }
        let choice = try await directory.choice()
        #expect(choice.provider.id == "lab")
        #expect(choice.model == "")
    }

    @Test("is one of a server on this machine where there is nothing else")
    func local() async throws {
        try await withLocal { server in
            let choice = try await makeDirectory(local: server).choice()
            #expect(choice.provider.id == "ollama")
            #expect(choice.model == "llama3:8b")
            #expect(server.record.requests.allSatisfy { $0.headers["Authorization"] == nil })
        }
    }

    @Test(
        "is none of a server that was merely found on this machine, unless somebody agrees", arguments: [nil, "qwen"])
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

    @Test("is nobody's where there is nothing, and three lines say what can be done")
    func nobody() async throws {
        let directory = makeDirectory()
        let error = await #expect(throws: ChatError.self) { try await directory.choice() }
        #expect(error?.kind == .noProvider)
        let lines = try #require(error).message.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].contains("OPENAI_API_KEY"))
    }

    @Test("is never an agent that happens to listen at a usual port")
    func agent() async throws {
        try await ScriptedServer.run {
            try $0.reply(#"{"data":[{"id":"claude-sonnet","owned_by":"anthropic-claude"}]}"#)
        } during: { server in
            let error = await #expect(throws: ChatError.self) { try await makeDirectory(local: server).choice() }
            #expect(error?.kind == .noProvider)
        }
    }

    @Test("is never that of a program that only happens to listen there", arguments: ["<html>", "{}", #"{"data":[]}"#])
    func stranger(body: String) async throws {
        try await ScriptedServer.run {
            try $0.reply(body)
        } during: { server in
            #expect(await makeDirectory(local: server).available().isEmpty)
        }
    }

    @Test("does not wait for a program that never answers")
    func silent() async throws {
        try await ScriptedServer.run {
            try $0.stall()
        } during: { server in
            let start = ContinuousClock.now
            #expect(await makeDirectory(local: server).available().isEmpty)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("can be named by provider, with a model, by the model alone, or by its beginning")
    func names() async throws {
        try await RefusingPort.run { port in
            try await withLocal { server in
                let directory = makeDirectory(key, local: server) {
                    // No list of a vendor is asked for over the network here.
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

    /// Keeps one key, and counts how often it was asked for names.
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

    @Test("is one whose key is kept, and the keys are not opened where the environment has one")
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

    @Test("says that a variable has no address in it, when that is wanted")
    func badAddress() async throws {
        let choice = try await makeDirectory(["OPENAI_BASE_URL": "ftp://x"]).choice()
        let error = await #expect(throws: ChatError.self) { try await Heard().ask(choice.provider) }
        #expect(error?.kind == .badAddress)
        #expect(error?.message.hasPrefix("OPENAI_BASE_URL: ") == true)
    }

    @Test("is told by name alone without the network, where the name is well known")
    func known() async throws {
        try await withLocal { server in
            let directory = makeDirectory(key, local: server)
            try await expect("gpt-4o", in: directory, means: "gpt-4o", of: "openai")
            try await expect("gpt-5-2026-01-01", in: directory, means: "gpt-5-2026-01-01", of: "openai")
            #expect(server.record.connections.isEmpty)
        }
    }

    @Test("is an error with the nearest name when there is no such thing")
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
        "of a vendor without a key says which variable is missing",
        arguments: ["anthropic", "anthropic/claude-haiku-4-5", "claude-haiku-4-5"])
    func noKey(name: String) async throws {
        let directory = makeDirectory()
        let error = await #expect(throws: ChatError.self) { try await directory.choice(of: name) }
        #expect(error?.kind == .noKey)
        #expect(error?.message.contains("ANTHROPIC_API_KEY") == true)
        // The store has one for another.
        let keeping = makeDirectory {
            $0.secrets = Keys()
            $0.authenticator = Nobody()
        }
        let other = await #expect(throws: ChatError.self) { try await keeping.choice(of: name) }
        #expect(other?.kind == .noKey)
        #expect(other?.message.contains("auth secret set anthropic") == true)
    }

    @Test("of a server that is not running says where it was looked for")
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
