public import Capabilities
public import JSON
public import Registry

/// An event in a run.
public enum RunEvent: Sendable {
    case began(RunFacts)
    /// The state of a step, or of one of its runs, has changed.
    case step(StepUpdate)
    /// A step with several parts has started: several runs, or the steps of the bundle that it runs.
    case spread(step: String, count: Int)
    /// Output of a step's action while it runs.
    case output(step: String, ActionEvent)
    case notice(step: String?, String)
    case ended(RunSummary)
}

/// What is known about a run when it starts.
public struct RunFacts: Sendable, Hashable {
    /// The id of the run.
    public var id: RunID
    /// The name of the bundle.
    public var name: String
    /// The file of the bundle, as messages show it.
    public var file: String
    /// When this part of the run started.
    public var started: Timestamp
    /// The steps in the order of the file.
    public var steps: [String]
    /// Whether an earlier process ran a part of it.
    public var isResumed: Bool
}

/// A change in the state of a step.
public struct StepUpdate: Sendable {
    /// The step's id; `ask[model=a]` for one of several runs, `outer/inner` inside another bundle.
    public var key: String
    /// The action or the bundle.
    public var work: String
    /// The number of the attempt, from 1.
    public var attempt: Int
    /// When the state changed.
    public var time: Timestamp
    /// The arguments, without secrets.
    public var arguments: JSON
    /// The new state, with the result, without secrets. While an attempt runs, only the status has a meaning.
    public var outcome: StepOutcome
    /// Whether it finished in an earlier part of the run and is not repeated.
    public var isRestored = false
    /// Whether it was running when an earlier part of the run was interrupted.
    public var isRepeated = false
    /// Whether the result comes from the cache.
    public var isCached = false
    /// Whether it will be retried.
    public var triesAgain = false
}

/// The result of a run.
public struct RunSummary: Sendable {
    /// The id of the run.
    public var id: RunID
    /// The name of the bundle.
    public var name: String
    /// How the run ended.
    public var status: Status
    /// The exit code for the command; that of the first failed step, if one failed.
    public var exit: ExitCode
    /// When this part of the run started.
    public var started: Timestamp
    /// When it ended, measured from the start without regard to changes of the clock.
    public var ended: Timestamp
    /// The outputs of the bundle by name, without secrets. Those that cannot be evaluated are missing.
    public var outputs: JSONObject = [:]
    /// The first failure, in the order of the file.
    public var error: StepError?
    /// Every step and every run of a step, in the order they ended.
    public var steps: [StepUpdate] = []

    /// The state of a run. It is `running` only in the journal.
    public enum Status: String, Choice, Hashable {
        case running, ok, failed, cancelled
    }

    /// The number of updates in `steps` with this status, including those that are allowed to fail.
    public func count(_ status: StepStatus) -> Int { steps.count { $0.outcome.status == status } }
}

/// How a step ended.
public struct StepOutcome: Sendable, Hashable {
    /// The state, in a word.
    public var status: StepStatus
    /// The result of the action. For a step with several runs, the list of their results.
    public var result = JSON.null
    /// The exit code of its action; 0 if it did not fail.
    public var exit = 0
    /// Why it failed; nil if it did not.
    public var error: StepError?
    /// How long the last attempt took; for a bundle, all of it.
    public var duration = Duration.zero
    /// The number of attempts.
    public var attempts = 0
    /// Whether it counts as successful although it failed.
    public var isForgiven = false
    /// Whether the result comes from the journal and contained a secret. The journal does not keep secrets, so the rest
    /// of the result cannot be used as a value.
    var isMasked = false

    /// An outcome without result and error; they are set afterwards.
    public init(_ status: StepStatus) {
        self.status = status
    }

    /// Whether the steps that need it may start.
    public var isGood: Bool {
        switch status {
        case .ok, .skipped: true
        case .failed: isForgiven
        case .running, .blocked, .cancelled: false
        }
    }

    /// The form that expressions see.
    var json: JSON {
        var object: JSONObject = [
            "status": status.json, "result": result, "exit": .int(exit),
            "duration": .double(duration / .seconds(1)), "error": error?.json ?? .null,
        ]
        if case .array = result { object.append("results", result) } else { object.append("results", .array([result])) }
        if case .object(let members) = result, let outputs = members["outputs"] { object.append("outputs", outputs) }
        return .object(object)
    }
}

/// Why a step failed.
public struct StepError: Record, Hashable {
    /// The stable code of the failure, such as `bundle.timed-out`.
    public var code: String
    /// What happened and what to do next.
    public var message: String

    /// - Parameter message: what happened and what to do next. The caller removes secrets from it.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    public static let fields: [Field<StepError>] = [
        Field("code", "Error code", .name) { $0.code },
        Field("message", "What happened and what to do next") { $0.message },
    ]
}

/// The state of a step.
public enum StepStatus: String, Choice, Hashable {
    /// It has started.
    case running
    /// It succeeded.
    case ok
    case failed
    /// Its condition was false.
    case skipped
    /// A step that it needs did not succeed.
    case blocked
    /// The run was stopped before it ended.
    case cancelled
}

/// The id of a run: its start time and four letters, so that ids sort by time.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
    /// The whole id.
    public let text: String

    /// - Parameter text: a whole id. There may be no such run.
    public init(_ text: String) {
        self.text = text
    }

    static func new(at time: Timestamp) -> RunID {
        let letters = (0..<4).map { _ in "abcdefghjkmnpqrstuvwxyz".randomElement() ?? "a" }
        return RunID("\(time.compact.lowercased())-\(String(letters))")
    }

    public var description: String { text }
}
