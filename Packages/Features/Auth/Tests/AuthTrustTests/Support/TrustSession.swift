import AuthTrust
import Capabilities
import CoreTesting
import HTTPClient
import HTTPTesting
import HostTesting
import JSON
import Registry

@testable import Auth

/// An open session with Auth, and what another feature would make of its trust.
struct TrustSession: Sendable {
    let session: TestSession
    let client: HTTPClient

    /// - Parameter settings: by default the test authority is trusted.
    static func run<Result: Sendable>(
        settings: String? = nil, environment: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (TrustSession) async throws -> Result
    ) async throws -> Result {
        try await TestWorkbench.run([AuthFeature.self]) { bench in
            let authority = try TestCertificates.shared().authority.write(into: bench.folder, as: "authority").chain
            bench.settings = settings ?? "{auth: {cacert: '\(authority)'}}"
            bench.environment.merge(environment) { $1 }
            return try await bench.open { session in
                var configuration = HTTPClient.Configuration.standalone
                configuration.trust = TrustDomain(try session.registry.one((any TrustStore).self))
                let trusting = TrustSession(session: session, client: HTTPClient(configuration))
                let result: Swift.Result<Result, any Error>
                do { result = .success(try await body(trusting)) } catch { result = .failure(error) }
                await trusting.client.close()
                return try result.get()
            }
        }
    }

    func get(_ port: Int) async throws -> String {
        try await client.send(Bench.request(port)).text
    }

    @discardableResult
    func perform(_ id: String, _ arguments: JSONObject = [:]) async throws -> JSON {
        try await session.perform(id, arguments).json
    }

    /// Performs a command that a person copies from a message.
    @discardableResult
    func type(_ command: String) async throws -> JSON {
        var words = command.split(separator: " ").map(String.init)
        guard words.prefix(4).elementsEqual(["martlet", "auth", "trust", "add"]) else {
            throw ScriptError.failed("no such command: \(command)")
        }
        words.removeFirst(4)
        var arguments: JSONObject = ["host": .string(words.removeFirst())]
        while words.count >= 2 {
            arguments.append(String(words[0].dropFirst(2)), .string(words[1]))
            words.removeFirst(2)
        }
        return try await perform("auth.trust.add", arguments)
    }
}
