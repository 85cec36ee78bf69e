import CoreTesting
import HTTPTesting
import HostKit
import JSON
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
            let violations = try await TemporaryDirectory.run { folder in
                try await FeatureConformance.violations(
                    of: AuthFeature.self, with: [HostFeature.self], in: folder,
                    doing: [
                        "auth.server.add": ["name": "lab", "address": "http://127.0.0.1:1", "kind": "openai"],
                        "auth.server.use": ["name": "lab"], "auth.secret.set": ["name": "openai", "value": "kept"],
                        "auth.secret.get": ["name": "openai"], "auth.secret.lock": [:],
                        "auth.trust.show": ["host": "127.0.0.1:1"], "auth.trust.remove": ["host": "127.0.0.1:1"],
                        "auth.logout": [:], "auth.server.remove": ["name": "lab"],
                    ], texts: Self.names)
            }
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }

    @Test("Each setting sets its property, and each property has a setting") func bindings() {
        let names = [
            "passphrase-fd": "passphraseDescriptor", "cacert": "authorities", "certificate-key": "key",
        ]
        #expect(SettingsConformance.violations(of: AuthSettings.self, names: names) == [])
    }
}
