import AuthTrust
import Capabilities
import CoreTesting
import HTTPClient
import HTTPTesting
import JSON
import Registry
import Settings

@testable import Auth

/// Takes what features want written, and forgets it: trust changes no settings.
private final class Forgetful: SettingsWriter {
    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String {
        "settings.json"
    }
}

struct ForgetfulSettings: Feature {
    static let manifest = Manifest(
        id: "forgetful", summary: "Writes no settings", version: "1.0", provides: [.single((any SettingsWriter).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SettingsWriter).self, Forgetful())
    }
}

/// The feature in a folder of its own, and what another feature would make of its trust.
struct Desk {
    let host: TestHost
    let client: HTTPClient

    static func run<Result>(
        settings: String? = nil, environment: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (Desk) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            let authority = try TestCertificates.shared().authority.write(into: folder, as: "authority").chain
            let host = try TestHost(
                [AuthFeature.self, ForgetfulSettings.self],
                settings: settings ?? "{auth: {cacert: '\(authority)'}}", environment: environment, folder: folder)
            guard host.composition.problems.isEmpty else { throw CompositionFailure(host.composition.problems) }
            var configuration = HTTPClient.Configuration.standalone
            configuration.trust = TrustDomain(try host.composition.registry.one((any TrustStore).self))
            let desk = Desk(host: host, client: HTTPClient(configuration))
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body(desk)) } catch { result = .failure(error) }
            await desk.client.close()
            return try result.get()
        }
    }

    func get(_ port: Int) async throws -> String {
        try await client.send(Bench.request(port)).text
    }

    /// Does what a command line says, as a person copies it.
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
        return try await host.perform("auth.trust.add", arguments)
    }
}
