public import Capabilities
public import JSON

/// A run as the list has it.
public struct RunRow: Record, Hashable {
    public var id: String
    public var name: String
    public var status: RunSummary.Status
    public var exit: Int?
    public var started: Timestamp
    public var ended: Timestamp?
    public var file: String
    public var steps: Int
    public var failed: Int
    /// Whether its process was gone before it ended, so that it can go on.
    public var isBroken: Bool

    public static let fields: [Field<RunRow>] = [
        Field("id", "The run", .name) { $0.id },
        Field("name", "The bundle") { $0.name },
        Field("status", "How it went", .state) { $0.isBroken ? "broken-off" : $0.status.rawValue },
        Field("exit", "Its exit code", .minor) { $0.exit },
        Field("started", "When it began") { $0.started },
        Field("seconds", "How long it took") { row in row.ended.map { ($0 - row.started) / .seconds(1) } },
        Field("steps", "How many steps have ended", .minor) { $0.steps },
        Field("failed", "How many of them failed") { $0.failed },
        Field("file", "The bundle's file", .detail) { $0.file },
    ]
}

/// A step as the journal has it.
public struct StepRow: Record, Hashable {
    public var key: String
    public var work: String
    public var status: StepStatus
    public var attempt: Int
    public var exit: Int
    public var error: StepError?
    public var started: Timestamp
    public var seconds: Double
    public var arguments: JSON
    public var result: JSON

    public static let fields: [Field<StepRow>] = [
        Field("step", "The step", .name) { $0.key },
        Field("does", "The action or the bundle") { $0.work },
        Field("status", "How it went", .state) { $0.status },
        Field("attempt", "Which time it was tried") { $0.attempt },
        Field("seconds", "How long it took") { $0.seconds },
        Field("exit", "Its exit code", .detail) { $0.exit },
        Field("error", "Why it failed") { $0.error?.message },
        Field("started", "When it began", .detail) { $0.started },
        Field("with", "What it was given", .detail) { $0.arguments },
        Field("result", "What it gave", .detail) { $0.result },
    ]
}

/// Something that a step said.
public struct JournalEvent: Record, Hashable {
    public var number: Int
    public var step: String
    public var time: Timestamp
    public var event: JSON

    public static let fields: [Field<JournalEvent>] = [
        Field("time", "When", .name) { $0.time },
        Field("step", "Which step") { $0.step },
        Field("event", "What it said") { $0.event },
    ]
}
