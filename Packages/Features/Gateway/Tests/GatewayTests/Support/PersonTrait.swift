import Capabilities
import Testing

/// The tests of a suite run for a person who is not there to be asked, since nothing is done for nobody.
struct PersonTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await body() }
    }
}
