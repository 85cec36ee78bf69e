import Capabilities
public import Runs

/// A run as JUnit XML, which continuous integration shows as tests: one case for each run of a step.
///
/// It uses only what the schemas of Ant and Jenkins have in common, so that both accept it.
public enum JUnitReport {
    /// The document of a run that has ended.
    public static func text(_ summary: RunSummary) -> String {
        let steps = summary.steps.leaves
        let failed = steps.filter { $0.outcome.status == .failed && !$0.outcome.isForgiven }
        let errors = failed.count { !$0.isFinding }
        let skipped = steps.count { [.skipped, .blocked, .cancelled].contains($0.outcome.status) }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>",
            "<testsuite"
                + attributes([
                    ("name", summary.name), ("package", "martlet"), ("id", "0"), ("hostname", "localhost"),
                    ("timestamp", String(summary.started.iso8601.prefix(19))),
                    ("time", seconds(summary.ended - summary.started)), ("tests", String(steps.count)),
                    ("failures", String(failed.count - errors)), ("errors", String(errors)),
                    ("skipped", String(skipped)),
                ]) + ">",
            "<properties>", "<property\(attributes([("name", "run"), ("value", summary.id.text)]))/>",
            "<property\(attributes([("name", "status"), ("value", summary.status.rawValue)]))/>", "</properties>",
        ]
        for step in steps { lines += testCase(step, summary.name) }
        let message = summary.error.map { MarkupText.escape("\($0.code): \($0.message)") } ?? ""
        lines += ["<system-out></system-out>", "<system-err>\(message)</system-err>", "</testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func testCase(_ step: StepUpdate, _ bundle: String) -> [String] {
        let outcome = step.outcome
        let open =
            "<testcase"
            + attributes([
                ("name", step.key), ("classname", "\(bundle).\(step.work)"), ("time", seconds(outcome.duration)),
            ])
        switch outcome.status {
        case .ok, .running: return [open + "/>"]
        case .skipped: return [open + ">", #"<skipped message="the condition was false"/>"#, "</testcase>"]
        case .blocked:
            return [open + ">", #"<skipped message="a needed step did not succeed"/>"#, "</testcase>"]
        case .cancelled: return [open + ">", #"<skipped message="the run was stopped"/>"#, "</testcase>"]
        case .failed:
            let error = outcome.error ?? StepError(code: "failed", message: "exit code \(outcome.exit)")
            if outcome.isForgiven {
                let message = attributes([("message", "allowed to fail: \(error.message)")])
                return [open + ">", "<skipped\(message)/>", "</testcase>"]
            }
            let element = step.isFinding ? "failure" : "error"
            let marks = attributes([("message", error.message), ("type", error.code)])
            let text = MarkupText.escape("\(error.message)\nexit code \(outcome.exit), attempt \(step.attempt)")
            return [open + ">", "<\(element)\(marks)>\(text)</\(element)>", "</testcase>"]
        }
    }

    private static func attributes(_ pairs: [(String, String)]) -> String {
        pairs.map { " \($0)=\"\(MarkupText.escape($1))\"" }.joined()
    }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.milliseconds)
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

extension StepUpdate {
    /// Whether the action did its work and found a problem, in contrast to an action that could not run.
    fileprivate var isFinding: Bool {
        outcome.exit == 5 || ["run.expectation", "bundle.step-failed"].contains(outcome.error?.code)
    }
}
