import Bundles
import Capabilities
import JSON
import RunReports

/// What `martlet run` gives: a report of the run, or what was asked for instead of it.
enum RunResult: OutputValue {
    case report(RunReport)
    case plan([PlannedStep])
    case schema(JSON)
    case replay(ReplayReport)

    static var schema: Schema { .any }

    var json: JSON {
        switch self {
        case .report(let report): report.json
        case .plan(let steps): steps.json
        case .schema(let schema): schema
        case .replay(let report): report.json
        }
    }

    var exit: ExitCode {
        switch self {
        case .report(let report): report.exit
        case .replay(let report): report.exit
        case .plan, .schema: .done
        }
    }
}
