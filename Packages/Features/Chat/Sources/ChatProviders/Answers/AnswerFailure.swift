import Capabilities
import HTTPCore
import ModelKit

/// Why one try did not lead to an answer, with what decides whether there is another. It never leaves this module.
struct AnswerFailure: Error {
    /// What the caller is told.
    let error: any Error
    var refusal: ServerRefusal?
    var status: Int?
    /// Whether the connection or the stream broke, or stood still.
    var isDeath = false

    var chat: ChatError? { error as? ChatError }

    /// Whether it may pass by itself.
    var mayPass: Bool {
        switch chat?.kind {
        case .rateLimited, .notReady: true
        // The server's own time limit, not ours: ours has already taken long enough.
        case .timedOut: status != nil
        default: isDeath
        }
    }
}

extension AnswerFailure {
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
