public import Capabilities
import JSON
public import Runs

/// A run as a document for programs.
public struct RunReport: Record {
    public let summary: RunSummary

    public init(_ summary: RunSummary) {
        self.summary = summary
    }

    /// The command ends as the run did.
    public var exit: ExitCode { summary.exit }

    public static let fields: [Field<RunReport>] = [
        Field("run", "The run", .name) { $0.summary.id.text },
        Field("name", "The bundle") { $0.summary.name },
        Field("status", "How it went", .state) { $0.summary.status },
        Field("exit", "Its exit code") { Int($0.summary.exit.rawValue) },
        Field("started", "When it began") { $0.summary.started },
        Field("seconds", "How long it took") { ($0.summary.ended - $0.summary.started) / .seconds(1) },
        Field("error", "The first failure, in the order of the file") { $0.summary.error },
        Field("outputs", "What the bundle gives") { JSON.object($0.summary.outputs) },
        Field("steps", "Every step and every run of one, in the order in which they ended") {
            $0.summary.steps.map(ReportedStep.init)
        },
    ]
}

/// A step as a report has it.
public struct ReportedStep: Record {
    let update: StepUpdate

    init(_ update: StepUpdate) {
        self.update = update
    }

    public static let fields: [Field<ReportedStep>] = [
        Field("step", "The step", .name) { $0.update.key },
        Field("does", "The action or the bundle") { $0.update.work },
        Field("status", "How it went", .state) { $0.update.outcome.status },
        Field("attempt", "Which time it was tried") { $0.update.attempt },
        Field("seconds", "How long it took") { $0.update.outcome.duration / .seconds(1) },
        Field("exit", "Its exit code", .detail) { $0.update.outcome.exit },
        Field("error", "Why it failed") { $0.update.outcome.error },
        Field("ended", "When it ended", .detail) { $0.update.time },
        Field("with", "What it was given", .detail) { $0.update.arguments },
        Field("result", "What it gave", .detail) { $0.update.outcome.result },
    ]
}
