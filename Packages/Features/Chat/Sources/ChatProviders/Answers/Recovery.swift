import AnthropicDialect
import Capabilities
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect
import ResponsesDialect

/// Decides what follows an attempt of which nothing was delivered. It has no clock and no connection.
struct Recovery {
    enum Step {
        case giveUp
        /// Ask again at once in another way: with other names or a new session.
        case change
        /// Ask without streaming. The text is the reason for the user.
        case asWhole(String)
        case wait(Duration, exactly: Bool)
    }

    static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    /// The longest wait. For longer ones, the user is told instead.
    static let longestWait: Duration = .seconds(60)

    /// The wait for a server that limits requests without a wait time.
    private var rateLimitWait: Duration?
    /// Whether the server runs tools, which must not run twice.
    private let runsTools: Bool
    private var waited = 0
    private var deaths = 0
    private var changes = 0

    init(rateLimitWait: Duration?, runsTools: Bool) {
        self.rateLimitWait = rateLimitWait
        self.runsTools = runsTools
    }

    mutating func step(
        after failure: AnswerFailure, request: inout ChatRequest, dialect: inout any Dialect
    ) -> Step {
        let kind = RefusalKind(failure.refusal, status: failure.status)
        if changes < 4 {
            if kind.hasLostSession, request.extras["session_id"] != nil {
                changes += 1
                request.extras["session_id"] = nil
                return .change
            }
            // A native request of a client is never changed.
            let isWritten = request.native?.dialect == .anthropic && dialect is AnthropicDialect
            if !isWritten, failure.status == 400 || failure.status == 422, let refusal = failure.refusal,
                let other = Self.adapted(dialect, to: refusal, model: request.model)
            {
                changes += 1
                dialect = other
                return .change
            }
        }
        if request.streams, kind.refusesStreaming {
            request.streams = false
            return .asWhole("this server does not support streaming; waiting for the complete answer")
        }
        guard request.repeats, failure.mayPass, waited < Self.waits.count else { return .giveUp }
        if runsTools, !failure.hasCertainlyNotBegun { return .giveUp }
        if failure.isDeath { deaths += 1 }
        if request.streams, deaths == 2 {
            waited += 1
            request.streams = false
            return .asWhole("the stream broke off twice before anything arrived; waiting for the complete answer")
        }
        return wait(after: failure)
    }

    /// The dialect with another name for the refused member.
    private static func adapted(
        _ dialect: any Dialect, to refusal: ServerRefusal, model: String
    ) -> (any Dialect)? {
        switch dialect {
        case let openAI as OpenAIDialect: openAI.quirks.adapted(to: refusal).map { OpenAIDialect($0) }
        case let anthropic as AnthropicDialect:
            anthropic.options.adapted(to: refusal, model: model).map { AnthropicDialect($0) }
        case let responses as ResponsesDialect:
            responses.options.adapted(to: refusal).map { ResponsesDialect($0) }
        default: nil
        }
    }

    private mutating func wait(after failure: AnswerFailure) -> Step {
        let isLimited = failure.chat?.kind == .rateLimited
        let usual = Self.waits[waited]
        waited += 1
        guard let asked = failure.chat?.retryAfter ?? (isLimited ? rateLimitWait : nil) else {
            return .wait(usual, exactly: false)
        }
        return asked <= Self.longestWait ? .wait(asked, exactly: true) : .giveUp
    }
}

/// Why an attempt failed, with the facts that decide about a retry. It never leaves this module.
struct AnswerFailure: Error {
    /// The error for the caller.
    var error: any Error
    var refusal: ServerRefusal?
    var status: Int?
    /// Whether the connection or the stream broke or stalled.
    var isDeath = false
    /// Whether the server answered only with an error status.
    var isRefusal = false
    /// Whether the server forbids a retry.
    var isFinal = false

    var chat: ChatError? { error as? ChatError }

    /// Whether a server that runs tools has certainly not started. Otherwise its tools may have run, and would run
    /// again.
    var hasCertainlyNotBegun: Bool {
        guard isRefusal else { return false }
        switch status {
        case 409, 429: return true
        case 503: return chat?.retryAfter != nil || RefusalKind(refusal, status: status).hasNoRoom
        default: return false
        }
    }

    /// The same failure with a warning that tools may have run already.
    var afterWork: AnswerFailure {
        guard var error = chat else { return self }
        error.remedy = "it may already have used tools; check what it has done before you try again"
        var failure = self
        failure.error = error
        return failure
    }

    /// Whether a retry may help.
    var mayPass: Bool {
        if isFinal { return false }
        switch chat?.kind {
        case .rateLimited, .notReady: return true
        // This is the server's own timeout. Our timeouts have already taken long enough.
        case .timedOut: return status != nil
        default: return isDeath
        }
    }
}

extension AnswerFailure {
    /// The answer is a web page: from a wrong address, or from a proxy whose server is gone.
    init(webPageFrom server: ServerAccess, hasBegun: Bool, status: Int) {
        self.init(
            error: hasBegun
                ? ChatError(
                    .streamLost, "\(server.name) sent a web page in the middle of the answer", remedy: "try again",
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
        // A refusal in the middle of an answer may have a status as its code.
        if let code = error.refusal?.code { status = Int(code) }
    }
}
