import Capabilities
import HTTPClient
import HTTPCore
import JSON
import ModelKit

/// Gets an answer from a server: the one way for all of them.
///
/// A try that fails before anything of the answer was seen is repeated where that may help; after that, never. The
/// server is made to wait while the caller is busy, and cancelling closes the connection.
struct StreamedAnswer: Sendable {
    let access: ServerAccess
    let url: HTTPURL
    /// Whether an `error:` line is an error, as old llama.cpp servers write it.
    var readsErrorField = false
    /// How long the server wants to be left alone after a 429 that does not say.
    var rateLimitWait: Duration?
    /// For a server that runs tools, in sessions.
    var agent: AgentServer?

    /// The answer, and the dialect in which it was got in the end.
    func run(
        _ request: ChatRequest, in dialect: any Dialect, _ receive: Delivery.Receive
    ) async throws -> (answer: ChatAnswer, dialect: any Dialect) {
        try await access.tracer.span(
            "chat.answer", feature: "chat",
            attributes: ["provider": .string(access.id), "model": .string(request.model)]
        ) { notes in
            var delivery = Delivery()
            if agent != nil { delivery.session = ServerSession(sentIn: request.extras) }
            defer { delivery.skipped.tell(notes) }
            let (answer, used) = try await run(request, in: dialect, &delivery, receive)
            notes.note("finish", .string(answer.finish.word))
            for (name, value) in answer.usage.json.object ?? [:] { notes.note(name, value) }
            return (answer, used)
        }
    }

    private func run(
        _ request: ChatRequest, in dialect: any Dialect, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> (answer: ChatAnswer, dialect: any Dialect) {
        do {
            return try await persist(request, dialect, &delivery, receive)
        } catch let failure as AnswerFailure {
            throw failure.error
        } catch {
            // The caller has stopped, by cancelling or by an error of its own.
            if delivery.isAsking, let agent, let session = delivery.session?.id { agent.stop(session) }
            throw error
        }
    }

    private func persist(
        _ request: ChatRequest, _ dialect: any Dialect, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> (answer: ChatAnswer, dialect: any Dialect) {
        var (request, dialect) = (request, dialect)
        var recovery = Recovery(rateLimitWait: rateLimitWait, runsTools: agent != nil)
        while true {
            delivery.isAsking = true
            do {
                return (try await once(request, in: dialect, &delivery, receive), dialect)
            } catch let failure as AnswerFailure {
                delivery.isAsking = false
                try Task.checkCancellation()
                guard !delivery.hasContent else { throw failure }
                let hadSession = request.extras["session_id"] != nil
                switch recovery.step(after: failure, request: &request, dialect: &dialect) {
                case .giveUp:
                    if agent != nil, failure.mayPass, !failure.hasCertainlyNotBegun { throw failure.afterWork }
                    throw failure
                case .change:
                    guard hadSession, request.extras["session_id"] == nil else { continue }
                    delivery.session = ServerSession(sentIn: request.extras)
                    try await receive([.notice("the server has ended the session; a new one is begun")])
                case .asWhole(let reason): try await receive([.notice(reason)])
                case .wait(let time, let exactly):
                    let happened = failure.chat?.happened ?? "the server did not answer"
                    try await receive([.notice("\(happened); trying again in \(time.words)")])
                    // Many clients that were refused together must not come back together.
                    try await access.clock.sleep(for: exactly ? time : time * Double.random(in: 1...1.1))
                }
            }
        }
    }
}
