public import Capabilities

/// What can be wrong with a run that is looked for.
public enum RunError: Failure, Hashable {
    case unknown(String?)
    case ambiguous(String)
    case stillRunning(String)
    case alreadyDone(String)
    case changed(String)
    case overlaps(String, String)
    case secretResult

    public var code: String {
        switch self {
        case .unknown: "run.unknown"
        case .ambiguous: "run.ambiguous"
        case .stillRunning: "run.still-running"
        case .alreadyDone: "run.already-done"
        case .changed: "run.changed"
        case .overlaps: "run.overlaps"
        case .secretResult: "run.secret-result"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .overlaps, .secretResult: .failed
        case .unknown, .ambiguous, .stillRunning, .alreadyDone, .changed: .usage
        }
    }

    public var message: String {
        switch self {
        case .unknown(nil): "nothing was run yet; 'martlet run FILE' runs a bundle"
        case .unknown(let id?): "there is no run '\(PlainText.escape(id))'; 'martlet runs list' shows them"
        case .ambiguous(let id): "several runs begin with '\(PlainText.escape(id))'; name more of it"
        case .stillRunning(let id): "the run \(id) is still going on; 'martlet runs cancel \(id)' stops it"
        case .alreadyDone(let id): "the run \(id) has ended well, so that there is nothing to go on with"
        case .changed(let file):
            "\(PlainText.escape(file)) was changed since that run began; run it from the beginning, or take the change back"
        case .overlaps(let name, let id):
            "\(PlainText.escape(name)) is still running as \(id), so it was not started a second time"
        case .secretResult: "it holds a secret, which is never kept"
        }
    }
}
