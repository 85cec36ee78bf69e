import Capabilities
import JSON
import Testing

@Suite("Failure")
struct FailureTests {
    private struct Bare: Failure {
        var code: String { "demo.bare" }
        var message: String { "it broke" }
    }

    @Test("A failure is reported as one line of JSON")
    func report() {
        #expect(Bare().report.text() == #"{"error":{"code":"demo.bare","message":"it broke"}}"#)
        let failure = DemoFailure(cause: Bare(), details: ["status": 404, "url": "http://x\n"])
        #expect(
            failure.report.text()
                == #"{"error":{"code":"demo.failed","message":"it failed; try again","cause":"it broke","#
                + #""status":404,"url":"http://x\n"}}"#)
    }

    @Test("A foreign cause is reported in its own words")
    func foreignCause() {
        #expect(DemoFailure(cause: ValueError("no", at: ["a"])).report["error"]?["cause"] == "a: no")
    }

    @Test("Details do not replace the code and the message")
    func detailsCannotReplace() {
        let failure = DemoFailure(details: ["code": "other", "message": "other", "status": 1])
        #expect(
            failure.report.text() == #"{"error":{"code":"demo.failed","message":"it failed; try again","status":1}}"#)
    }

    @Test("A failure by default exits with code 1 and has no cause and no details")
    func defaults() {
        #expect(Bare().exit == .failed)
        #expect(Bare().cause == nil)
        #expect(Bare().details.isEmpty)
        #expect("\(Bare())" == "it broke")
    }

    @Test("A failure keeps its values as AnyFailure")
    func anyFailure() {
        let failure = AnyFailure(DemoFailure(cause: Bare(), details: ["status": 404]))
        #expect(failure.code == "demo.failed")
        #expect(failure.exit == .unreachable)
        #expect(failure.cause is Bare)
        #expect(failure.report == DemoFailure(cause: Bare(), details: ["status": 404]).report)
        #expect(AnyFailure(failure).report == failure.report)
    }

    @Test("A cancellation becomes an interruption")
    func cancelled() {
        let failure = AnyFailure(CancellationError())
        #expect(failure.code == "cancelled")
        #expect(failure.exit == .interrupted)
        #expect(failure.exit.rawValue == 130)
        #expect(failure.message == "the command was cancelled before it finished")
    }

    @Test("A foreign error becomes an unexpected error with its own words")
    func foreign() {
        let failure = AnyFailure(ValueError("needs text", at: ["name"]))
        #expect(failure.code == "unexpected")
        #expect(failure.exit == .failed)
        #expect(failure.message == "unexpected error: name: needs text")
    }

    @Test(
        "The exit codes have their documented values",
        arguments: [
            (.done, 0), (.failed, 1), (.usage, 2), (.denied, 3), (.unreachable, 4), (.toolFailed, 5), (.unanswered, 6),
            (.interrupted, 130), (.terminated, 143),
        ] as [(ExitCode, Int32)])
    func exits(exit: ExitCode, number: Int32) {
        #expect(exit.rawValue == number)
    }
}
