import Capabilities
import Testing

/// Runs the tests of a suite for a user who cannot be asked, because every action needs a caller.
struct PersonTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await body() }
    }
}
