import CoreTesting
import HTTPTesting
import JSON
import Testing

@testable import Auth

@Suite("Auth as a feature")
struct AuthFeatureTests {
    @Test("keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await TemporaryDirectory.run { folder in
                try await FeatureConformance.violations(
                    of: AuthFeature.self, with: [SettingsFileFeature.self], in: folder,
                    doing: [
                        "auth.server.add": ["name": "lab", "address": "http://127.0.0.1:1", "kind": "openai"],
                        "auth.server.use": ["name": "lab"], "auth.secret.set": ["name": "openai", "value": "kept"],
                        "auth.secret.get": ["name": "openai"], "auth.secret.lock": [:],
                        "auth.trust.show": ["host": "127.0.0.1:1"], "auth.trust.remove": ["host": "127.0.0.1:1"],
                        "auth.logout": [:], "auth.server.remove": ["name": "lab"],
                    ])
            }
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }
}
