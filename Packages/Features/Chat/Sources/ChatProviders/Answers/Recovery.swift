import AnthropicDialect
import Capabilities
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
