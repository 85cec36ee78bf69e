import Capabilities
import JSON

/// An error of running a bundle. Problems in the bundle's file are a ``BundleFailure`` instead.
enum RunnerError: Failure {
    case noBundle
    case unknownName(String, folders: [String])
    case notTrusted(String)
    case options(String)
    case input(String)
    case runsItself
    case timedOut(Duration)
    case ended(action: String, ExitCode, result: JSON)
    case recording(String, String)
    case notRecorded(String)
    case replayed(code: String, message: String, ExitCode, result: JSON)
    case cannotStop(String)
    case notRunning(String)
    case schedule(String)
    /// - Parameter variables: the environment file of the systemd unit; nil for cron.
    case scheduledSecret(input: String, variables: String?)
    case file(String)
    case notSo(String)
    case journal(AnyFailure)

    var code: String {
        switch self {
        case .noBundle, .unknownName: "bundle.not-found"
        case .notTrusted: "bundle.not-trusted"
        case .options: "usage.arguments"
        case .input: "bundle.input"
        case .runsItself: "bundle.invalid"
        case .timedOut: "bundle.timed-out"
        case .ended: "bundle.step-failed"
        case .recording, .notRecorded: "run.recording"
        case .replayed(let code, _, _, _): code
        case .cannotStop: "run.not-stopped"
        case .notRunning: "run.not-running"
        case .schedule, .scheduledSecret: "bundle.schedule"
        case .file: "run.file"
        case .notSo: "run.expectation"
        case .journal(let error): error.code
        }
    }

    var exit: ExitCode {
        switch self {
        case .notTrusted: .denied
        case .timedOut: .unreachable
        case .ended(_, let exit, _), .replayed(_, _, let exit, _): exit
        case .journal(let error): error.exit
        case .cannotStop, .notRunning, .notRecorded, .file, .notSo: .failed
        default: .usage
        }
    }

    var message: String {
        switch self {
        case .noBundle: "no bundle given; use 'martlet run FILE'"
        case .unknownName(let name, let folders):
            "no bundle '\(PlainText.escape(name))' in \(folders.joined(separator: " or ")); "
                + "to run a file, give its path, such as ./\(PlainText.escape(name)).yaml"
        case .notTrusted(let file):
            "\(PlainText.escape(file)) belongs to a project and is not trusted, or it changed since it was trusted; "
                + "read it, then run 'martlet config trust'"
        case .options(let what), .input(let what), .schedule(let what), .file(let what), .notSo(let what): what
        case .scheduledSecret(let input, let variables):
            "the input '\(input)' is secret or contains a secret, and other users can read command lines; in the "
                + "bundle, take it from the vault with 'env: {NAME: {secret: …}}'"
                + (variables.map {
                    ", or write \(GivenInputs.variable(of: input))=… into \(PlainText.escape($0)) and protect that "
                        + "file with chmod 600"
                } ?? "")
        case .runsItself: "this action cannot run in a bundle; use 'bundle: FILE' in a step to run another bundle"
        case .timedOut(let limit): "the step did not finish within its timeout of \(limit.words)"
        case .ended(let action, let exit, let result):
            "\(action) ended with exit code \(exit.rawValue)\(ResultReason.text(result).map { ": \($0)" } ?? "")"
        case .recording(let file, let why): "cannot replay \(PlainText.escape(file)): \(why)"
        case .notRecorded(let step): "the recording has no further attempt of the step \(PlainText.escape(step))"
        case .replayed(_, let message, _, _): message
        case .cannotStop(let id): "the run \(id) was asked to stop but is still running"
        case .journal(let error): "\(error.message); use --no-journal to run without saving the run"
        case .notRunning(let id): "the run \(id) is not running, so there is nothing to stop"
        }
    }

    var details: JSONObject {
        switch self {
        case .ended(_, _, let result) where !result.isNull: ["result": result]
        case .replayed(_, _, _, let result) where !result.isNull: ["result": result]
        default: [:]
        }
    }
}

/// Finds the reason for a failure in the result of an action.
enum ResultReason {
    /// The number of reasons shown; the result itself has all of them.
    private static let most = 3

    /// The reasons, each with its remedy, from the result or its failed rows; nil if there are none.
    static func text(_ result: JSON) -> String? {
        let all = result.array ?? [result]
        let failed = all.filter { $0["state"]?.string == "failed" }
        let rows = failed.isEmpty ? all : failed
        let reasons = rows.compactMap(reason)
        guard !reasons.isEmpty else { return nil }
        let more = reasons.count > most ? "; and \(reasons.count - most) more" : ""
        return reasons.prefix(most).joined(separator: "; ") + more
    }

    private static func reason(_ row: JSON) -> String? {
        let mend = row["mend"]?.string
        // A row with a remedy stands for a failure, even if it has no `reason` but only `found`.
        guard let why = row["reason"]?.string ?? (mend == nil ? nil : row["found"]?.string) else { return mend }
        let name = row["id"]?.string.map { "\($0): " } ?? ""
        return name + why + (mend.map { "; \($0)" } ?? "")
    }
}
