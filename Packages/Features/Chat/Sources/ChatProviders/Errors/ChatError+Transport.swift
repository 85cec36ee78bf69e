import Capabilities
import HTTPCore
import ModelKit

extension ChatError {
    /// What a failure on the way means; nil for what is told as it is: certificates, and mistakes of this program.
    ///
    /// - Parameter hasBegun: Whether the answer had begun.
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
        let happened = "no whole answer of \(server.name): \(server.redactor.redact(error.message))"
        self.init(
            kind, happened, remedy: remedy, provider: server.id, status: error.status?.code,
            retryAfter: error.retryAfter, cause: error)
    }

    /// What a reader of answers could not make one of.
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
