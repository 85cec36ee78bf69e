import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import SSHCore
import SSHTesting
import Settings
import Synchronization

@testable import SSH

/// Secrets in memory.
final class TestVault: SecretStore {
    private let secrets = Mutex<[SecretName: Secret]>([:])

    func secret(named name: SecretName) async -> Secret? { secrets.withLock { $0[name] } }
    func store(_ secret: Secret, named name: SecretName) async { secrets.withLock { $0[name] = secret } }
    func remove(named name: SecretName) async { secrets.withLock { $0[name] = nil } }
    func names() async -> [SecretName] { secrets.withLock { Array($0.keys) } }
}

/// A vault in memory as a feature. Each composition has its own.
struct TestVaultFeature: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "Secrets in memory", version: "1.0", provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, registry.shared("vault") { TestVault() } as any SecretStore)
    }
}

extension SSHServer {
    /// A port of 127.0.0.1 at which nobody answers: of a listener that is gone.
    static let deadPort = 1

    /// Runs a server, and a host of the feature whose settings of SSH name it `web1`, `web2` and `db`, and `dead`, which does not
    /// answer.
    static func withHost(
        user: [String] = ["ed25519"], options: [String] = [], lines: String = "", settings: String = "",
        _ body: @Sendable (SSHServer, TestHost) async throws -> Void
    ) async throws {
        try await run(user: user, options: options) { server in
            let account = try SSHAccount.current(environment: [:])
            let text = """
                \(lines)
                Host web1 web2 db
                  Port \(server.port)
                Host dead
                  Port \(deadPort)
                Host jump
                  ProxyJump web1
                Host *
                \(configuration(port: server.port, in: server.folder, user: account.name))
                """
            try Files.writeAtomically(Array(text.utf8), to: "\(server.folder)/config")
            let host = try TestHost(
                [SSHFeature.self, TestVaultFeature.self],
                settings: #"{"ssh": {"config": "\#(server.folder)/config"\#(settings)}}"#,
                folder: server.folder)
            try await body(server, host)
            await host.session.close()
        }
    }
}

extension TestHost {
    /// Performs an action with someone who answers. Returns the result and the exit code.
    func perform(
        _ id: String, _ arguments: JSONObject, asking person: any Interaction,
        output: RecordingOutput = RecordingOutput()
    ) async throws -> (json: JSON, exit: ExitCode) {
        let value = try await session.perform(id, arguments, as: .person(person), output: output)
        return (value.json, value.exit)
    }

    /// The failure of an action.
    func failure(
        _ id: String, _ arguments: JSONObject, asking person: any Interaction = HeadlessInteraction(),
        output: RecordingOutput = RecordingOutput()
    ) async throws -> AnyFailure {
        do {
            _ = try await perform(id, arguments, asking: person, output: output)
        } catch {
            return AnyFailure(error)
        }
        throw SSHServer.Problem("nothing was thrown")
    }
}
