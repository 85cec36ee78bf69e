public import Capabilities
public import JSON

/// Why there is no answer, in words for a person.
///
/// No message has a key in it, whatever the server said. What is wrong with a certificate is told by `HTTPError`,
/// untouched, because it has the certificate.
public struct ChatError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What has happened, without what to do about it.
    public let happened: String
    /// What to do next, where something can be done.
    public var remedy: String?
    /// Who was asked.
    public var provider: String?
    /// The status that the server answered with, where it answered.
    public var status: Int?
    /// How long the server asked to wait.
    public var retryAfter: Duration?
    public var cause: (any Error)?

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

    /// Whether the same question may well be answered when it is asked once more.
    public var mayRetry: Bool {
        [.rateLimited, .serverFailed, .notReady, .timedOut, .unreachable, .streamLost, .empty].contains(kind)
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
