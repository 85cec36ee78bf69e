import Capabilities
import JSON
import Testing

@Suite("Failures")
struct FailureTests {
    private struct Bare: Failure {
        var code: String { "demo.bare" }
        var message: String { "it broke" }
    }

    @Test("are reported as one line of JSON")
    func report() {
        #expect(Bare().report.text() == #"{"error":{"code":"demo.bare","message":"it broke"}}"#)
        let failure = DemoFailure(cause: Bare(), details: ["status": 404, "url": "http://x\n"])
        #expect(
            failure.report.text()
                == #"{"error":{"code":"demo.failed","message":"it failed; try again","cause":"it broke","#
                + #""status":404,"url":"http://x\n"}}"#)
    }

    @Test("name a foreign cause in its own words")
    func foreignCause() {
        #expect(DemoFailure(cause: ValueError("no", at: ["a"])).report["error"]?["cause"] == "a: no")
    }

    @Test("keep their code and message, whatever the details say")
    func detailsCannotReplace() {
        let failure = DemoFailure(details: ["code": "other", "message": "other", "status": 1])
        #expect(
            failure.report.text() == #"{"error":{"code":"demo.failed","message":"it failed; try again","status":1}}"#)
    }

    @Test("that say nothing more end with code 1, without cause and details")
    func defaults() {
        #expect(Bare().exit == .failed)
        #expect(Bare().cause == nil)
        #expect(Bare().details.isEmpty)
        #expect("\(Bare())" == "it broke")
    }

    @Test("stay what they are when they are any failure")
    func anyFailure() {
        let failure = AnyFailure(DemoFailure(cause: Bare(), details: ["status": 404]))
        #expect(failure.code == "demo.failed")
        #expect(failure.exit == .unreachable)
        #expect(failure.cause is Bare)
        #expect(failure.report == DemoFailure(cause: Bare(), details: ["status": 404]).report)
        #expect(AnyFailure(failure).report == failure.report)
    }

    @Test("are interruptions when the work was cancelled")
    func cancelled() {
        let failure = AnyFailure(CancellationError())
        #expect(failure.code == "cancelled")
        #expect(failure.exit == .interrupted)
        #expect(failure.exit.rawValue == 130)
        #expect(failure.message == "the command was cancelled before it was done")
    }

    @Test("of foreign errors are unexpected, with their words")
    func foreign() {
        let failure = AnyFailure(ValueError("needs text", at: ["name"]))
        #expect(failure.code == "unexpected")
        #expect(failure.exit == .failed)
        #expect(failure.message == "something unexpected happened: name: needs text")
    }

    @Test(
        "end with the exit codes that are promised",
        arguments: [
            (.done, 0), (.failed, 1), (.usage, 2), (.denied, 3), (.unreachable, 4), (.toolFailed, 5), (.unanswered, 6),
            (.interrupted, 130), (.terminated, 143),
        ] as [(ExitCode, Int32)])
    func exits(exit: ExitCode, number: Int32) {
        #expect(exit.rawValue == number)
    }
}
