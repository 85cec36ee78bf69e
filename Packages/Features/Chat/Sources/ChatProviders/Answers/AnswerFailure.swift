import Capabilities
import HTTPCore
import ModelKit

/// Why one try did not lead to an answer, with what decides whether there is another. It never leaves this module.
struct AnswerFailure: Error {
    /// What the caller is told.
    var error: any Error
    var refusal: ServerRefusal?
    var status: Int?
    /// Whether the connection or the stream broke, or stood still.
    var isDeath = false
    /// Whether the server answered with nothing but a status that says no.
    var isRefusal = false
    /// Whether the server says that it must not be asked again.
    var isFinal = false

    var chat: ChatError? { error as? ChatError }

    /// Whether a server that runs tools has certainly not begun: else they may have been used, and would be used again.
    var hasCertainlyNotBegun: Bool {
        guard isRefusal else { return false }
        switch status {
        case 409, 429: return true
        case 503: return chat?.retryAfter != nil || RefusalKind(refusal, status: status).hasNoRoom
        default: return false
        }
    }

    /// The same for a server that may have used tools, which a person should know before they ask once more.
    var afterWork: AnswerFailure {
        guard var error = chat else { return self }
        error.remedy = "it may have used tools already; look at what it has done before you ask again"
        var failure = self
        failure.error = error
        return failure
    }

    /// Whether it may pass by itself.
    var mayPass: Bool {
        if isFinal { return false }
        switch chat?.kind {
        case .rateLimited, .notReady: return true
        // The server's own time limit, not ours: ours has already taken long enough.
        case .timedOut: return status != nil
        default: return isDeath
        }
    }
}

extension AnswerFailure {
    /// What came is for people with a browser: from a wrong address, or from a proxy in whose midst the server is gone.
    init(webPageFrom server: ServerAccess, hasBegun: Bool, status: Int) {
        self.init(
            error: hasBegun
                ? ChatError(
                    .streamLost, "\(server.name) sent a web page in the midst of the answer", remedy: "ask again",
                    provider: server.id, status: status)
                : ChatError(
                    .badAnswer, "\(server.name) sent a web page instead of an answer",
                    remedy: "check the address of the server", provider: server.id, status: status))
        isDeath = hasBegun
    }

    init(_ error: HTTPError, hasBegun: Bool, from server: ServerAccess) {
        self.init(error: ChatError(error, hasBegun: hasBegun, from: server) ?? error)
        isDeath = [.reset, .cut, .idleTimedOut].contains(error.kind)
    }

    init(_ error: DialectError, model: String, from server: ServerAccess) {
        self.init(error: ChatError(error, model: model, from: server), refusal: error.refusal)
        isDeath = error.kind == .cut
        // A refusal in the midst of an answer may have a status as its code.
        if let code = error.refusal?.code { status = Int(code) }
    }
}
