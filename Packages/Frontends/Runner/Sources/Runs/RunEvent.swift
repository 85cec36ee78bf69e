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

/// How a step ended.
public struct StepOutcome: Sendable, Hashable {
    public var status: StepStatus
    /// What the action gave; of a step that runs several times the list of what each gave.
    public var result = JSON.null
    public var exit = 0
    public var error: StepError?
    public var duration = Duration.zero
    /// How often it was tried.
    public var attempts = 0
    /// Whether it counts as well done although it failed.
    public var isForgiven = false
    /// Whether the result was read where it is kept, and held a secret that is not kept: what is left is no value.
    var isMasked = false

    public init(_ status: StepStatus) {
        self.status = status
    }

    /// Whether what needs it may begin.
    public var isGood: Bool {
        switch status {
        case .ok, .skipped: true
        case .failed: isForgiven
        case .running, .blocked, .cancelled: false
        }
    }

    /// As expressions see it.
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
    public var code: String
    public var message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    public static let fields: [Field<StepError>] = [
        Field("code", "What kind of failure it is", .name) { $0.code },
        Field("message", "What happened and what to do next") { $0.message },
    ]
}

/// How far a step has come.
public enum StepStatus: String, Choice, Hashable {
    /// It has begun.
    case running
    /// It ended well.
    case ok
    case failed
    /// Its own condition said no.
    case skipped
    /// Something that it needs did not end well.
    case blocked
    /// The run was stopped before it was over.
    case cancelled
}

/// What a run is called: the time of its beginning and four letters, so that a list of names is in the order of time.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func new(at time: Timestamp) -> RunID {
        let digits = time.iso8601.prefix(19).filter { $0 != "-" && $0 != ":" }
        let letters = (0..<4).map { _ in "abcdefghjkmnpqrstuvwxyz".randomElement() ?? "a" }
        return RunID("\(digits.lowercased())-\(String(letters))")
    }

    public var description: String { text }
}
