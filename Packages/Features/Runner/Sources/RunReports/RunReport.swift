public import Capabilities
import JSON
public import Runs

/// A run as a document for programs.
public struct RunReport: Record {
    let summary: RunSummary

    /// - Parameter summary: the result of a run that has ended.
    public init(_ summary: RunSummary) {
        self.summary = summary
    }

    /// The command exits with the exit code of the run.
    public var exit: ExitCode { summary.exit }

    public static let fields: [Field<RunReport>] = [
        Field("run", "Id of the run", .name) { $0.summary.id.text },
        Field("name", "Name of the bundle") { $0.summary.name },
        Field("status", "How the run ended", .state) { $0.summary.status },
        Field("exit", "Exit code") { Int($0.summary.exit.rawValue) },
        Field("started", "When it started") { $0.summary.started },
        Field("seconds", "How long it took") { ($0.summary.ended - $0.summary.started) / .seconds(1) },
        Field("error", "The first failure, in the order of the file") { $0.summary.error },
        Field("outputs", "Outputs of the bundle") { JSON.object($0.summary.outputs) },
        Field("steps", "Every step and every run of a step, in the order they ended") {
            $0.summary.steps.map(ReportedStep.init)
        },
    ]
}

/// A step in a report.
public struct ReportedStep: Record {
    let update: StepUpdate

    init(_ update: StepUpdate) {
        self.update = update
    }

    public static let fields: [Field<ReportedStep>] = [
        Field("step", "The step", .name) { $0.update.key },
        Field("does", "The action or the bundle") { $0.update.work },
        Field("status", "How the step ended", .state) { $0.update.outcome.status },
        Field("attempt", "Number of the attempt") { $0.update.attempt },
        Field("seconds", "How long it took") { $0.update.outcome.duration / .seconds(1) },
        Field("exit", "Exit code", .detail) { $0.update.outcome.exit },
        Field("error", "Why it failed") { $0.update.outcome.error },
        Field("ended", "When it ended", .detail) { $0.update.time },
        Field("with", "Its arguments", .detail) { $0.update.arguments },
        Field("result", "Its result", .detail) { $0.update.outcome.result },
    ]
}
