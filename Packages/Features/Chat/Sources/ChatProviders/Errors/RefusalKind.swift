import Capabilities
import ModelKit

/// What the words and the status of a refusal mean. Servers agree on neither, so both are looked at.
struct RefusalKind {
    /// What is said, in small letters: the message, the type and the code.
    private let words: String
    private let type: String
    private let code: String
    private let status: Int?

    /// - Parameter status: nil where the refusal came in the midst of an answer. OpenRouter has one as its code there.
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

    /// Whether a gateway runs as many agents as it can, so that it has not started another one.
    var hasNoRoom: Bool { words.contains("maximum concurrent") }

    /// Whether a gateway has ended the session that the request names.
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
