public import Capabilities
public import JSON

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
