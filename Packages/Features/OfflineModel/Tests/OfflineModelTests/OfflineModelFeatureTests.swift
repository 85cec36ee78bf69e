import Capabilities
import CoreTesting
import OfflineModel
import Registry
import Testing

@Suite("The offline model as a feature", .timeLimit(.minutes(1)))
struct OfflineModelFeatureTests {
    @Test("The feature conforms to the rules for features") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await FeatureConformance.violations(of: OfflineModelFeature.self)
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }

    @Test("The planner is provided as the built-in model, and answers without anything set up")
    func provides() async throws {
        let host = try TestHost([OfflineModelFeature.self])
        let model = try #require(host.composition.registry.optional((any BuiltInModel).self))
        #expect(await model.isAvailable())
        #expect(try await model.models().map(\.id) == ["martlet-offline"])
        let request = ChatRequest(model: "", messages: [Message(.user, "repeat: hello")])
        #expect(try await model.answer(request) { _ in }.message.text == "hello")
    }
}
