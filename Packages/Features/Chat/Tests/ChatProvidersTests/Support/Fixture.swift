import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

/// A directory whose providers are a scripted server.
struct Fixture {
    let id: String
    let directory: ProviderDirectory
    let server: ScriptedServer
    let clock: HastyClock
    let heard = Heard()

    static let key = "sk-test-0123456789abcdefghij"

    /// Runs a server, with the variables of a vendor or a server pointing to it.
    static func run<Result>(
        as id: String = "openai", path: String = "/v1", key: String? = key,
        isolation: isolated (any Actor)? = #isolation,
        setup change: (inout ProviderSetup) -> Void,
        _ script: @escaping ScriptedServer.Script, _ body: (Fixture) async throws -> Result
    ) async throws -> Result {
        let clock = HastyClock()
        return try await ScriptedServer.run(script) { server in
            let prefix = id.uppercased()
            var environment = ["\(prefix)_BASE_URL": "http://127.0.0.1:\(server.port)\(path)"]
            environment["\(prefix)_API_KEY"] = key
            var setup = ProviderSetup(environment: environment, clock: clock)
            change(&setup)
            let directory = ProviderDirectory(setup)
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body(Fixture(id: id, directory: directory, server: server, clock: clock)))
            } catch {
                result = .failure(error)
            }
            await directory.close()
            await setup.client.close()
            return try result.get()
        }
    }

    /// The same without changes.
    static func run<Result>(
        as id: String = "openai", path: String = "/v1", key: String? = key,
        isolation: isolated (any Actor)? = #isolation, _ script: @escaping ScriptedServer.Script,
        _ body: (Fixture) async throws -> Result
    ) async throws -> Result {
        try await run(as: id, path: path, key: key, setup: { _ in }, script, body)
    }

    /// Asks, and expects the answer of `Stream.hello`.
    func expectHello(_ request: ChatRequest = .hello) async throws {
        let answer = try await heard.ask(provider(), request)
        #expect(answer.message.text == "Hello")
    }

    func provider() async throws -> any ModelProvider {
        try await directory.provider(named: id)
    }
}

extension ProviderSetup {
    init(environment: [String: String], clock: any Clock<Duration> = HastyClock()) {
        self.init(
            client: HTTPClient(.standalone), environment: environment, redactor: Redactor(), clock: clock,
            now: { Timestamp(microseconds: 1_700_000_000_000_000) })
        localServers = []
    }
}
