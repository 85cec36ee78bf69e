import Capabilities
import JSON

/// What can be wrong with running a bundle, beyond what is wrong in its file.
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
    /// - Parameter variables: the file with variables of the unit; nil for cron.
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
        case .noBundle: "a bundle is needed: martlet run FILE"
        case .unknownName(let name, let folders):
            "there is no bundle '\(PlainText.escape(name))' in \(folders.joined(separator: " or ")); "
                + "a file is named with its path, as in ./\(PlainText.escape(name)).yaml"
        case .notTrusted(let file):
            "\(PlainText.escape(file)) belongs to a project and is not trusted, or was changed since; read it, then "
                + "'martlet config trust'"
        case .options(let what), .input(let what), .schedule(let what), .file(let what), .notSo(let what): what
        case .scheduledSecret(let input, let variables):
            "the input '\(input)' is secret or holds a secret, and others can read the words of a command; take it from the vault by "
                + "'env: {NAME: {secret: …}}' in the bundle"
                + (variables.map {
                    ", or write \(GivenInputs.variable(of: input))=… into \(PlainText.escape($0)) and keep that to "
                        + "yourself with chmod 600"
                } ?? "")
        case .runsItself: "a bundle runs another one with 'bundle: FILE' in a step, and not with this action"
        case .timedOut(let limit): "it was not done within \(limit.words), which is the step's limit"
        case .ended(let action, let exit, let result):
            "\(action) ended with the exit code \(exit.rawValue)\(ResultReason.text(result).map { ": \($0)" } ?? "")"
        case .recording(let file, let why): "\(PlainText.escape(file)) is no recording that can be replayed: \(why)"
        case .notRecorded(let step): "the recording has no more of the step \(PlainText.escape(step))"
        case .replayed(_, let message, _, _): message
        case .cannotStop(let id): "the run \(id) was asked to stop and has not ended yet"
        case .journal(let error): "\(error.message); with --no-journal it is run without being kept"
        case .notRunning(let id): "the run \(id) is not going on, so that there is nothing to stop"
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

/// Why an action's result stands for a failure, in the result's own words.
enum ResultReason {
    /// As many are told; the result itself has all of them.
    private static let most = 3

    /// The reasons and what mends them, of the result or of the rows in it that are not well; nil where it has none.
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
        // A row that says how it is mended is not well, whatever it calls what it has found.
        guard let why = row["reason"]?.string ?? (mend == nil ? nil : row["found"]?.string) else { return mend }
        let name = row["id"]?.string.map { "\($0): " } ?? ""
        return name + why + (mend.map { "; \($0)" } ?? "")
    }
}
