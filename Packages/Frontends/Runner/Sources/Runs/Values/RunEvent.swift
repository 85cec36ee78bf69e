public import Capabilities
public import JSON
public import Registry

/// Something that happens in a run.
public enum RunEvent: Sendable {
    case began(RunFacts)
    /// A step, or one of its runs, has come to another state.
    case step(StepUpdate)
    /// A step has begun that consists of so many: runs of it, or the steps of the bundle that it runs.
    case spread(step: String, count: Int)
    /// Something that the action of a step said while it ran.
    case output(step: String, ActionEvent)
    case notice(step: String?, String)
    case ended(RunSummary)
}

/// What is known of a run when it begins.
public struct RunFacts: Sendable, Hashable {
    public var id: RunID
    public var name: String
    public var file: String
    public var started: Timestamp
    /// The steps in the order of the file.
    public var steps: [String]
    public var isResumed: Bool
}

/// What has become of a step.
public struct StepUpdate: Sendable {
    /// The step's id; `ask[model=a]` for one of several runs, `outer/inner` inside of another bundle.
    public var key: String
    /// The action or the bundle.
    public var work: String
    public var attempt: Int
    public var time: Timestamp
    /// What it is given, without secrets.
    public var arguments: JSON
    public var outcome: StepOutcome
    /// Whether it was done in an earlier part of the run and is not done again.
    public var isRestored = false
    /// Whether it was under way when an earlier part of the run broke off.
    public var isRepeated = false
    /// Whether the result is one of before.
    public var isCached = false
    /// Whether it is tried again.
    public var triesAgain = false
}

/// What came of a run.
public struct RunSummary: Sendable {
    public var id: RunID
    public var name: String
    public var status: Status
    public var exit: ExitCode
    public var started: Timestamp
    public var ended: Timestamp
    public var outputs: JSONObject = [:]
    /// The first failure, in the order of the file.
    public var error: StepError?
    /// Every step and every run of one, in the order in which they ended.
    public var steps: [StepUpdate] = []

    public enum Status: String, Choice, Hashable {
        case running, ok, failed, cancelled
    }

    public func count(_ status: StepStatus) -> Int { steps.count { $0.outcome.status == status } }
}
