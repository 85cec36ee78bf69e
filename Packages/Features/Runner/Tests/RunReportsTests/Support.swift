import Capabilities
import JSON

@testable import Runs

extension Timestamp {
    /// A time in November 2026.
    static let start = Timestamp(microseconds: 1_795_000_000_000_000)
}

func update(
    _ key: String, _ status: StepStatus, _ error: StepError? = nil, exit: Int = 0, after: Duration = .seconds(2),
    took: Duration = .seconds(1), result: JSON = .null, work: String = "demo.act"
) -> StepUpdate {
    var outcome = StepOutcome(status)
    (outcome.error, outcome.exit, outcome.duration, outcome.result) = (error, exit, took, result)
    return StepUpdate(
        key: key, work: work, attempt: 1, time: .start + after, arguments: ["to": "somebody"], outcome: outcome)
}

func summary(
    _ steps: [StepUpdate], name: String = "demo", status: RunSummary.Status = .ok, exit: ExitCode = .done
) -> RunSummary {
    RunSummary(
        id: RunID("20261120t101500-abcd"), name: name, status: status, exit: exit, started: .start,
        ended: .start + .seconds(4), steps: steps)
}

func facts(_ steps: [String]) -> RunFacts {
    RunFacts(
        id: RunID("20261120t101500-abcd"), name: "demo", file: "/srv/demo.yaml", started: .start, steps: steps,
        isResumed: false)
}

/// Text that tries to break out of any format.
let hostile =
    "a&b <script>alert(1)</script> \"q\" 'r' ]]> \u{1B}[31m \u{0} \u{7F} \u{FFFE} %0A\n::error::x | `c` \u{202E}"
