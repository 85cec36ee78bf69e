import CoreTesting
import Testing

@testable import Auth

@Suite("Auth as a feature")
struct AuthFeatureTests {
    @Test("keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await FeatureConformance.violations(
                of: AuthFeature.self, with: [SettingsFileFeature.self])
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }
}
