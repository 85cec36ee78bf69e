public import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
public import JSON
import ModelKit

/// Why there is no answer, as a message for the user.
///
/// No message contains a key, whatever the server said. Certificate errors are passed on as `HTTPError`, because they
/// contain the certificate.
public struct ChatError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened, without the remedy.
    public let happened: String
    /// What to do next, if something can be done.
    public var remedy: String?
    /// The provider that was asked.
    public var provider: String?
    /// The status of the server's response, if there was one.
    public var status: Int?
    /// How long the server asked to wait.
    public var retryAfter: Duration?
    public var cause: (any Error)?

    /// - Parameters:
    ///   - happened: a sentence without a final stop, and without the remedy.
    ///   - remedy: what to do next, as the continuation of the sentence.
    public init(
        _ kind: Kind, _ happened: String, remedy: String? = nil, provider: String? = nil, status: Int? = nil,
        retryAfter: Duration? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.happened = happened
        self.remedy = remedy
        self.provider = provider
        self.status = status
        self.retryAfter = retryAfter
        self.cause = cause
    }

    public var message: String { remedy.map { "\(happened); \($0)" } ?? happened }
    public var code: String { kind.description }

    /// Whether the same question may succeed if it is asked again.
    public var mayRetry: Bool {
        [.rateLimited, .serverFailed, .notReady, .timedOut, .unreachable, .streamLost, .empty].contains(kind)
    }

    /// Whether the model may have moved or disappeared.
    var mayMeanMoved: Bool {
        switch kind {
        case .modelNotFound, .unreachable, .notReady: true
        default: status == 404
        }
    }

    public var exit: ExitCode {
        switch kind {
        case .unsupported, .unknownProvider, .unknownProject, .ambiguousModel, .noProvider, .noModel, .badAddress,
            .notAgreed:
            .usage
        case .keyRefused, .noKey, .forbidden, .noCredit: .denied
        case .unreachable, .timedOut, .streamLost, .rateLimited, .notReady: .unreachable
        default: .failed
        }
    }

    public var details: JSONObject {
        var details: JSONObject = [:]
        if let provider { details["provider"] = .string(provider) }
        if let status { details["status"] = .int(status) }
        if let retryAfter { details["retryAfterSeconds"] = .double(retryAfter / .seconds(1)) }
        return details
    }
}

extension ChatError {
    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<ChatError>
}

/// The reasons of a `ChatError`.
extension FailureKind<ChatError> {
    // MARK: What the server says

    /// The key or the sign-in was rejected.
    public static var keyRefused: Self { "chat.key-refused" }
    /// The account lacks this right.
    public static var forbidden: Self { "chat.forbidden" }
    /// The account has no credit or quota.
    public static var noCredit: Self { "chat.no-credit" }
    /// The server received too many requests.
    public static var rateLimited: Self { "chat.rate-limited" }
    /// There is no such model.
    public static var modelNotFound: Self { "chat.model-not-found" }
    /// The model is no longer available.
    public static var modelGone: Self { "chat.model-gone" }
    /// The conversation is longer than the model can read.
    public static var tooLong: Self { "chat.too-long" }
    /// A content filter of the provider withheld the answer or rejected the question.
    public static var contentRefused: Self { "chat.content-refused" }
    /// The server rejected the request. The message has its reason.
    public static var invalidRequest: Self { "chat.invalid-request" }
    /// The server failed for a reason that is not known here.
    public static var serverFailed: Self { "chat.server-failed" }
    /// The server is starting or overloaded.
    public static var notReady: Self { "chat.not-ready" }

    // MARK: What happens on the way

    /// The server cannot be reached.
    public static var unreachable: Self { "chat.unreachable" }
    /// The server did not answer in time.
    public static var timedOut: Self { "chat.timed-out" }
    /// The answer broke off.
    public static var streamLost: Self { "chat.stream-lost" }
    /// The answer is empty.
    public static var empty: Self { "chat.empty" }
    /// The response is not a valid answer.
    public static var badAnswer: Self { "chat.bad-answer" }
    /// The answer is larger than the limits allow.
    public static var tooLarge: Self { "chat.too-large" }
    /// The server redirects the request, and redirects are not followed.
    public static var redirected: Self { "chat.redirected" }

    // MARK: What was asked for

    /// The request contains something that this server does not accept.
    public static var unsupported: Self { "chat.unsupported" }
    /// There is no key for the provider.
    public static var noKey: Self { "chat.no-key" }
    /// No provider is available.
    public static var noProvider: Self { "chat.no-provider" }
    /// No provider has that id.
    public static var unknownProvider: Self { "chat.unknown-provider" }
    /// A gateway has no project with that name, or several.
    public static var unknownProject: Self { "chat.unknown-project" }
    /// A server was found on this machine, but it was neither named nor approved.
    public static var notAgreed: Self { "chat.not-agreed" }
    /// Models may not write in this folder.
    public static var toolFolder: Self { "chat.tool-folder" }
    /// The provider has no model.
    public static var noModel: Self { "chat.no-model" }
    /// A name matches the beginning of several models.
    public static var ambiguousModel: Self { "chat.ambiguous-model" }
    /// An address in the settings or the environment is not valid.
    public static var badAddress: Self { "chat.bad-address" }
}

extension ChatError {
    /// The same error with the most similar names, if the models can be listed.
    func naming(nearest model: String, in provider: any ModelProvider) async -> ChatError {
        let known: [String]
        do {
            known = try await provider.models().map(\.id)
        } catch {
            // The failure of the list does not matter here.
            return self
        }
        let names = Self.nearest(to: model, among: known)
        guard !names.isEmpty else { return self }
        var error = self
        let list = names.map { "'\(PlainText.escape($0))'" }.joined(separator: ", ")
        error.remedy = "did you mean \(list)? 'martlet chat models' lists the available models"
        return error
    }

    /// At most three names: the one with the fewest differences, then names that share a long beginning or contain the
    /// word.
    static func nearest(to word: String, among names: [String]) -> [String] {
        var found = Suggestion.nearest(to: word, among: names).map { [$0] } ?? []
        let wanted = word.lowercased()
        guard wanted.count >= 3 else { return found }
        let alike = names.compactMap { name -> (name: String, score: Int)? in
            let other = name.lowercased()
            if other.contains(wanted) { return (name, 1000 - name.count) }
            let shared = zip(other, wanted).prefix { $0 == $1 }.count
            return shared >= max(4, wanted.count / 2) ? (name, shared) : nil
        }
        for (name, _) in alike.sorted(by: { $0.score > $1.score }) where found.count < 3 && !found.contains(name) {
            found.append(name)
        }
        return found
    }

    /// A server was found at a usual port, and its use has not been approved.
    public static func notAgreed(_ server: LocalServer) -> ChatError {
        ChatError(
            .notAgreed,
            "\(server.name) seems to run on port \(server.port) of this machine, but its use has not been approved",
            remedy: "select it with --model \(server.id), or add '\(server.id)' to the setting chat.local-servers",
            provider: server.id)
    }
}

extension ChatError {
    /// The error for a server that refused, or failed during its answer.
    ///
    /// - Parameters:
    ///   - status: nil in the middle of an answer.
    ///   - model: the requested model.
    init(_ refusal: ServerRefusal?, status: Int?, retryAfter: Duration?, model: String, from server: ServerAccess) {
        let kind = RefusalKind(refusal, status: status).kind
        let words = refusal.map { server.redactor.redact($0.message) }.flatMap { $0.isEmpty ? nil : $0 }
        let (happened, remedy) = Self.sentence(kind, server, model, words, status, retryAfter)
        self.init(
            kind, happened, remedy: remedy, provider: server.id, status: status, retryAfter: retryAfter)
    }

    private static func sentence(
        _ kind: Kind, _ server: ServerAccess, _ model: String, _ words: String?, _ status: Int?, _ wait: Duration?
    ) -> (happened: String, remedy: String?) {
        let name = server.name
        let because = words.map { ": \(trimmed($0))" } ?? status.map { " (status \($0))" } ?? ""
        switch kind {
        case .keyRefused: return ("\(name) rejected the key, or received none\(because)", server.remedy)
        case .forbidden:
            return ("\(name) does not allow this account to do that\(because)", "request access, or use another model")
        case .noCredit:
            return (
                "the account at \(name) has no credit or quota left\(because)",
                "add credit there, or use another provider"
            )
        case .rateLimited:
            let advice = wait.map { "try again in \($0.words)" } ?? "wait a minute and try again"
            return ("\(name) received too many requests\(because)", advice)
        case .tooLong:
            return (
                "the conversation is longer than \(shown(model)) can read\(because)",
                "start a new one, leave something out, or use a model with a larger context"
            )
        case .contentRefused:
            return ("\(name) withheld the answer because of its content\(because)", "rephrase the question")
        case .modelNotFound:
            return (
                "\(name) has no model \(shown(model))\(because)", "'martlet chat models' lists the available models"
            )
        case .notReady:
            let advice = wait.map { "try again in \($0.words)" } ?? "try again later"
            return ("\(name) is not ready\(because)", advice)
        case .timedOut: return ("\(name) timed out\(because)", "try again")
        case .invalidRequest:
            let advice = speaksNoTools(words) ? "set chat.tool-format to tagged, or turn tools off" : nil
            return ("\(name) refused the request\(because)", advice)
        default: return ("\(name) failed\(because)", "try again")
        }
    }

    /// Whether the server does not support tools, such as vLLM without a tool parser.
    private static func speaksNoTools(_ words: String?) -> Bool {
        let words = (words ?? "").lowercased()
        return ["tool choice requires", "tool-call-parser", "does not support tools", "does not support tool"].contains
        {
            words.contains($0)
        }
    }

    /// A model's name in a sentence. A server may have made it up.
    static func shown(_ model: String) -> String {
        model.isEmpty ? "its model" : "“\(PlainText.escape(String(model.prefix(100))))”"
    }

    /// Without the final stop, because it becomes a part of our sentence.
    private static func trimmed(_ words: String) -> String {
        var words = words[...]
        while words.hasSuffix(".") || words.hasSuffix(" ") { words = words.dropLast() }
        return String(words)
    }
}

extension ChatError {
    /// The error for a failed connection; nil for errors that are passed on unchanged: certificates, and mistakes of
    /// this program.
    ///
    /// - Parameter hasBegun: whether the answer had begun.
    init?(_ error: HTTPError, hasBegun: Bool, from server: ServerAccess) {
        let kind: Kind
        var remedy: String?
        switch error.kind {
        case .certificate, .invalid, .closed, .body: return nil
        case .tooLarge, .headTooLarge: kind = .tooLarge
        case .redirect: kind = .redirected
        case .badAnswer, .status: kind = .badAnswer
        case .reset, .cut, .idleTimedOut:
            kind = .streamLost
            remedy = "try again"
        case .connectTimedOut, .firstByteTimedOut, .totalTimedOut:
            kind = hasBegun ? .streamLost : .timedOut
            remedy = "try again later"
        default: kind = hasBegun ? .streamLost : .unreachable
        }
        let happened = "no complete answer from \(server.name): \(server.redactor.redact(error.message))"
        self.init(
            kind, happened, remedy: remedy, provider: server.id, status: error.status?.code,
            retryAfter: error.retryAfter, cause: error)
    }

    /// The error for a request to a gateway other than the question.
    init(_ error: RemoteGatewayError, from server: ServerAccess) {
        if let cause = error.cause as? HTTPError, let known = ChatError(cause, hasBegun: false, from: server) {
            self = known
            return
        }
        if let status = error.status, error.kind != .badAnswer, error.kind != .redirected {
            self.init(error.refusal, status: status, retryAfter: error.retryAfter, model: "", from: server)
            return
        }
        let kind: Kind =
            switch error.kind {
            case .redirected: .redirected
            case .timedOut: .timedOut
            case .unreachable: .unreachable
            default: .badAnswer
            }
        self.init(kind, error.message, provider: server.id, status: error.status, cause: error)
    }

    /// The error for an answer that cannot be read.
    init(_ error: DialectError, model: String, from server: ServerAccess) {
        if error.kind == .failed {
            self.init(error.refusal, status: nil, retryAfter: nil, model: model, from: server)
            return
        }
        let kind: Kind =
            switch error.kind {
            case .cut: .streamLost
            case .empty: .empty
            case .tooLarge: .tooLarge
            case .unsupported: .unsupported
            default: .badAnswer
            }
        let message = "\(server.name): \(server.redactor.redact(error.message))"
        self.init(kind, message, provider: server.id, cause: error)
    }
}

extension ChatError {
    /// The error for a key of the environment that is not sent.
    init(_ error: EnvironmentKeyError, provider: String) {
        switch error {
        case .badKey(let variable):
            self.init(
                .noKey, "\(variable) contains characters that are not valid in a key",
                remedy: "set it again without them", provider: provider)
        case .badAddress(let variable, let cause):
            self.init(.badAddress, "\(variable): \(cause.message)", provider: provider, cause: cause)
        case .wrongServer(let meant, let target):
            self.init(
                .forbidden, "the key for \(meant.joined(separator: ", ")) is not sent to \(target)",
                remedy: "check the address of the server")
        }
    }
}

/// The kind of a refusal, from its message and its status. Servers agree on neither, so both are used.
struct RefusalKind {
    /// The message in lower case.
    private let words: String
    private let type: String
    private let code: String
    private let status: Int?

    /// - Parameter status: nil if the refusal came in the middle of an answer. OpenRouter then has a status as its
    ///   code.
    init(_ refusal: ServerRefusal?, status: Int?) {
        type = refusal?.type?.lowercased() ?? ""
        code = refusal?.code?.lowercased() ?? ""
        words = (refusal?.message ?? "").lowercased()
        self.status = status ?? Int(code).flatMap { (400..<600).contains($0) ? $0 : nil }
    }

    var kind: ChatError.Kind {
        if isAny(["insufficient_quota", "billing_error", "billing_hard_limit_reached"]) || status == 402 {
            return .noCredit
        }
        if status == 401 || isAny(["authentication_error", "invalid_api_key", "missing_api_key"]) {
            return .keyRefused
        }
        if isAny(["rate_limit_error", "rate_limit_exceeded", "too_many_requests"]) || status == 429 {
            return .rateLimited
        }
        if isTooLong { return .tooLong }
        if isHeldBack { return .contentRefused }
        if isModelUnknown { return .modelNotFound }
        if status == 403 || type == "permission_error" { return .forbidden }
        if isAny(["overloaded_error", "session_busy", "claude_unavailable", "overloaded"]) { return .notReady }
        switch status {
        case 502, 503, 529: return .notReady
        case 408, 504: return .timedOut
        case (400..<500)?: return .invalidRequest
        default: return type == "timeout_error" ? .timedOut : .serverFailed
        }
    }

    /// Whether the server says that it cannot stream.
    var refusesStreaming: Bool {
        guard let status, [400, 404, 405, 415, 422, 501].contains(status) else { return false }
        let denials = ["not supported", "unsupported", "not support", "not implemented", "not available", "disabled"]
        return words.contains("stream") && !words.contains("stream_options") && says(denials)
    }

    /// Whether a gateway is at its limit of agents and has not started another one.
    var hasNoRoom: Bool { words.contains("maximum concurrent") }

    /// Whether a gateway has ended the session of the request.
    var hasLostSession: Bool {
        isAny(["session_not_found"]) || (status == 404 && words.contains("session") && words.contains("not found"))
    }

    private var isTooLong: Bool {
        isAny(["context_length_exceeded", "exceed_context_size_error", "request_too_large"]) || status == 413
            || says([
                "prompt is too long", "maximum context length", "context length", "context size", "context window",
                "too many tokens",
            ])
    }

    private var isHeldBack: Bool {
        isAny(["content_policy_violation", "content_filter", "moderation", "content_policy", "content_blocked"])
            || (status == 403 && says(["moderation", "flagged"]))
    }

    private var isModelUnknown: Bool {
        if isAny(["model_not_found", "model_not_supported"]) { return true }
        guard status == nil || status == 404 || status == 400 || status == 422, words.contains("model") else {
            return false
        }
        return type == "not_found_error"
            || says(["not found", "not exist", "not a valid model", "invalid model", "no such model", "unknown model"])
    }

    private func isAny(_ names: [String]) -> Bool { names.contains(code) || names.contains(type) }

    private func says(_ phrases: [String]) -> Bool { phrases.contains { words.contains($0) } }
}
