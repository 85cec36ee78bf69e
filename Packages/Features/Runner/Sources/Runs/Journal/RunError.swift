public import Capabilities

/// An error of finding or resuming a run.
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
        case .unknown(nil): "there are no saved runs; 'martlet run FILE' runs a bundle"
        case .unknown(let id?): "there is no run '\(PlainText.escape(id))'; 'martlet runs list' shows the runs"
        case .ambiguous(let id): "several runs begin with '\(PlainText.escape(id))'; use more of the id"
        case .stillRunning(let id): "the run \(id) is still running; 'martlet runs cancel \(id)' stops it"
        case .alreadyDone(let id): "the run \(id) has succeeded, so there is nothing to resume"
        case .changed(let file):
            "\(PlainText.escape(file)) has changed since that run started; start a new run, or undo the change"
        case .overlaps(let name, let id):
            "\(PlainText.escape(name)) is already running as \(id), so it was not started again"
        case .secretResult: "it contains a secret, which is never saved"
        }
    }
}
