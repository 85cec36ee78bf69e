import AuthTrust
import CoreTesting
import Cryptography
import HTTPCore
import HTTPTesting
import HostKit
import JSON
import Synchronization
import Testing

@testable import Auth

@Suite("Auth feature")
struct AuthFeatureTests {
    /// The parameters for a user's own name of a configured server.
    private static let names = Dictionary(
        uniqueKeysWithValues: [
            "auth.server.use.name", "auth.server.remove.name", "auth.server.show.name", "auth.server.check.name",
            "auth.logout.server", "auth.status.server", "auth.whoami.server", "auth.pat.list.server",
            "auth.pat.create.server", "auth.pat.revoke.server", "auth.pat.remember.server", "auth.pat.forget.server",
            "auth.server.set.name", "auth.pat.rotate.server",
        ].map { ($0, "a configured server") } + [("auth.trust.add.fingerprint", "the expected certificate")])

    @Test("The feature follows the rules for all features") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await Self.withServers { platform, host, fingerprint in
                try await TemporaryDirectory.run { folder in
                    try await FeatureConformance.violations(
                        of: AuthFeature.self, with: [HostFeature.self], in: folder,
                        settings: "{profiles: {lab: {server: '\(platform)', kind: 'kamiwaza'}}}",
                        environment: ["KAMIWAZA_BASE_URL": platform, "KAMIWAZA_API_KEY": "pat-of-this-test"],
                        doing: [
                            "auth.server.add": ["name": "spare", "address": "http://127.0.0.1:1", "kind": "openai"],
                            "auth.server.use": ["name": "lab"],
                            "auth.secret.set": ["name": "openai", "value": "kept"],
                            "auth.secret.get": ["name": "openai"], "auth.secret.lock": [:],
                            "auth.pat.create": ["name": "ci"],
                            "auth.trust.add": ["host": .string(host), "fingerprint": .string(fingerprint)],
                            "auth.trust.show": ["host": .string(host)],
                            "auth.trust.remove": ["host": "127.0.0.1:1"],
                            "auth.logout": [:], "auth.server.remove": ["name": "lab"],
                        ], texts: Self.names)
                }
            }
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }

    /// Lends the address of a platform that lists an access token once one was created, the host of a server with a
    /// self-signed certificate, and the fingerprint of that. They are scripts, since the descriptors of this process are
    /// counted, and a real server opens some only with a later connection.
    private static func withServers<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (String, String, String) async throws -> Result
    ) async throws -> Result {
        let identity = try TestCertificates.shared().selfSigned
        let created = OneTime()
        let platform: ScriptedServer.Script = { connection in
            while true {
                if try connection.receiveRequest().method == "POST" { created.pass() }
                let tokens = created.isPassed ? #"{"jti": "1", "name": "ci"}"# : ""
                try connection.answer(200, ["Content-Type": "application/json"], "{\"pats\": [\(tokens)]}")
            }
        }
        let silent: ScriptedServer.Script = { connection in try connection.receiveRequest() }
        return try await ScriptedServer.run(platform) { platform in
            try await ScriptedServer.run(tls: ScriptedTLS(identity), silent) { server in
                try await body(
                    "http://127.0.0.1:\(platform.port)/api", "127.0.0.1:\(server.port)",
                    Fingerprint.text(identity.certificate.fingerprint))
            }
        }
    }

    /// Something that happens once and stays so.
    private final class OneTime: Sendable {
        private let state = Atomic(false)

        var isPassed: Bool { state.load(ordering: .relaxed) }
        func pass() { state.store(true, ordering: .relaxed) }
    }

    @Test("Each setting sets its property, and each property has a setting") func bindings() {
        let names = [
            "passphrase-fd": "passphraseDescriptor", "cacert": "authorities", "certificate-key": "key",
            "client-id-document": "clientDocument",
        ]
        #expect(SettingsConformance.violations(of: AuthSettings.self, names: names) == [])
    }
}
