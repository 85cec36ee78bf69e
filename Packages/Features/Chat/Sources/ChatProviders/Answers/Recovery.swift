import AnthropicDialect
import Capabilities
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect
import ResponsesDialect

/// Decides what comes after a try of which nothing has been seen. It has no clock and no connection of its own.
struct Recovery {
    enum Step {
        case giveUp
        /// Ask at once in another way: other names, a new session.
        case change
        /// Ask for the answer as a whole, with the reason for the person.
        case asWhole(String)
        case wait(Duration, exactly: Bool)
    }

    static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    /// Longer than this is not waited; the person is told instead.
    static let longestWait: Duration = .seconds(60)

    /// How long a server wants to be left alone that limits requests without saying for how long.
    var rateLimitWait: Duration?
    /// Whether the server runs tools, which must not be run twice.
    let runsTools: Bool
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
            // What a client wrote is never changed for it.
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
            return .asWhole("this server does not stream; waiting for the whole answer")
        }
        guard request.repeats, failure.mayPass, waited < Self.waits.count else { return .giveUp }
        if runsTools, !failure.hasCertainlyNotBegun { return .giveUp }
        if failure.isDeath { deaths += 1 }
        if request.streams, deaths == 2 {
            waited += 1
            request.streams = false
            return .asWhole("the stream broke twice before anything came; waiting for the whole answer")
        }
        return wait(after: failure)
    }

    /// The dialect with other names for what was refused.
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
