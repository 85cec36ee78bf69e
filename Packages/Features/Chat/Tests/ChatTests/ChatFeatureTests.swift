import CoreTesting
import Testing

@testable import Chat

@Suite("Chat as a feature")
struct ChatFeatureTests {
    @Test("keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await FeatureConformance.violations(of: ChatFeature.self, with: [Workshop.self])
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }
}
