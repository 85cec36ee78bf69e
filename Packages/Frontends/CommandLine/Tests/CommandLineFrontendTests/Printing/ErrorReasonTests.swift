import Capabilities
import Testing

@testable import CommandLineFrontend

@Suite("Error causes")
struct ErrorReasonTests {
    private struct Problem: Failure {
        let code = "test.problem"
        let exit = ExitCode.failed
        let message: String
        var cause: (any Error)?
    }

    @Test(
        "A cause is not printed if the message already contains it",
        arguments: ["no way there", "cannot: no way there; wait"])
    func same(message: String) {
        let failure = Problem(message: message, cause: Problem(message: "no way there"))
        #expect(ErrorPrinter.reason(of: AnyFailure(failure)) == nil)
    }

    @Test("A cause is printed if it says something else")
    func other() {
        let failure = Problem(message: "cannot reach the server", cause: Problem(message: "no way there"))
        #expect(ErrorPrinter.reason(of: AnyFailure(failure)) == "no way there")
        #expect(ErrorPrinter.reason(of: AnyFailure(Problem(message: "alone"))) == nil)
    }
}
