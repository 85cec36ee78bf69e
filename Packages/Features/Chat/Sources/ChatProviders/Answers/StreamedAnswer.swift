package import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
import JSON
import ModelKit

/// Gets an answer from a server. All providers use it.
///
/// An attempt that fails before any part of the answer was delivered is retried if that may help; after that, never.
/// The server has to wait while the caller is busy. Cancelling closes the connection.
struct StreamedAnswer: Sendable {
    let access: ServerAccess
    let url: HTTPURL
    /// Whether an `error:` line is an error, as old llama.cpp servers write it.
    var readsErrorField = false
    /// The wait after a 429 without a wait time.
    var rateLimitWait: Duration?
    /// The options of a server that runs tools in sessions.
    var agent: AgentTalk?

    /// Returns the answer, and the dialect that worked.
    func run(
        _ request: ChatRequest, in dialect: any Dialect, _ receive: Delivery.Receive
    ) async throws -> (answer: ChatAnswer, dialect: any Dialect) {
        try await access.tracer.span(
            request.model.isEmpty ? "chat" : "chat \(request.model)", .client, of: "chat"
        ) { span in
            span.set(.genAIOperation, "chat")
            span.set(.genAIProvider, .string(access.id))
            span.set(.genAIModel, .string(request.model))
            var delivery = Delivery()
            delivery.span = span
            if agent != nil { delivery.session = ServerSession(sentIn: request.extras) }
            defer { delivery.tell() }
            let (answer, used) = try await run(request, in: dialect, &delivery, receive)
            span.set("gen_ai.response.finish_reasons", .strings([answer.finish.shownWord]))
            span.set(answer.usage)
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
            // The caller has stopped, by cancelling or with its own error.
            if delivery.isAsking, let agent, let session = delivery.session?.id { agent.stop(session) }
            throw error
        }
    }

    private func persist(
        _ request: ChatRequest, _ dialect: any Dialect, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> (answer: ChatAnswer, dialect: any Dialect) {
        var (request, dialect) = (request, dialect)
        var recovery = Recovery(rateLimitWait: rateLimitWait, runsTools: agent != nil)
        var opening: OpeningTools?
        while true {
            // Also after a session was lost. One that exists has a choice, which is not to be replaced.
            if let agent, opening == nil, request.extras["session_id"] == nil {
                let chosen = try await agent.openingTools(in: request.extras["project_id"]?.string, through: access)
                if let sent = chosen.sent { request.extras["mcp"] = .object(sent.wire) }
                if let notice = chosen.notice { try await receive([.notice(notice)]) }
                opening = chosen
            }
            delivery.isAsking = true
            do {
                let answer = try await once(request, in: dialect, &delivery, receive)
                delivery.isAsking = false
                if let agent, let sent = opening?.sent,
                    let notice = await agent.shortfall(of: sent, in: answer.start.session, through: access)
                {
                    try await receive([.notice(notice)])
                }
                return (answer, dialect)
            } catch let failure as AnswerFailure {
                delivery.isAsking = false
                try Task.checkCancellation()
                guard !delivery.hasContent else { throw failure }
                let failure = failure.aboutTools(opening?.sent, of: access)
                let hadSession = request.extras["session_id"] != nil
                switch recovery.step(after: failure, request: &request, dialect: &dialect) {
                case .giveUp:
                    if agent != nil, failure.mayPass, !failure.hasCertainlyNotBegun { throw failure.afterWork }
                    throw failure
                case .change:
                    guard hadSession, request.extras["session_id"] == nil else { continue }
                    delivery.session = ServerSession(sentIn: request.extras)
                    try await receive([.notice("the server has ended the session; starting a new one")])
                case .asWhole(let reason): try await receive([.notice(reason)])
                case .wait(let time, let exactly):
                    delivery.span?.happened("chat.retry")
                    let happened = failure.chat?.happened ?? "the server did not answer"
                    try await receive([.notice("\(happened); trying again in \(time.words)")])
                    // Clients that were refused together must not return together.
                    try await access.clock.sleep(for: exactly ? time : time * Double.random(in: 1...1.1))
                }
            }
        }
    }
}

extension StreamedAnswer {
    /// Reads a stream and passes on its events as they arrive.
    func readEvents<D: Dialect>(
        _ exchange: HTTPExchange, in dialect: D, model: String, _ delivery: inout Delivery,
        _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var reader = dialect.reader()
        var batches = exchange.events(readsErrorField: readsErrorField).batches.makeAsyncIterator()
        // One buffer for the data of all events, because an array for each would be allocated and freed every time.
        var data: [UInt8] = []
        var name = ""
        var batcher = EventBatcher()
        while !reader.isComplete {
            var events: [ChatEvent] = []
            var failure: AnswerFailure?
            var questions: [AgentApproval] = []
            var count = 0
            do {
                guard let batch = try await batches.next() else { break }
                count = batch.count
                delivery.count(count)
                for index in batch.indices {
                    data.removeAll(keepingCapacity: true)
                    data.append(contentsOf: batch[index].data)
                    name = batch[index].type
                    let before = events.count
                    try reader.receive(name, data, into: &events)
                    guard events.count == before else { continue }
                    if agent?.approve != nil, let question = AgentApproval(frame: data) {
                        questions.append(question)
                    } else {
                        delivery.skipped.look(at: name, data)
                    }
                }
            } catch let error as HTTPError {
                failure = AnswerFailure(error, hasBegun: true, from: access)
            } catch let error as DialectError {
                failure = AnswerFailure(access.clean(error, name, data, dialect), model: model, from: access)
            }
            // Events before the failure count.
            try await delivery.deliver(events, to: receive)
            if let failure { throw failure }
            // The server continues only when it has its answers.
            for question in questions { try await settle(question, &delivery, receive) }
            if !reader.isComplete { try await batcher.pause(after: count) }
        }
        // The rest of a web page could look like a proper end.
        if batches.hasMarkup { throw AnswerFailure(webPageFrom: access, hasBegun: true, status: exchange.status.code) }
        return try await finish(&reader, model, &delivery, receive)
    }

    private func settle(
        _ question: AgentApproval, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws {
        guard let agent else { return }
        let settled = try await agent.settle(question, in: delivery.session?.id, through: access)
        if settled.isUnapproved { delivery.isUnapproved = true }
        if settled.isUnfit { delivery.hasUnfitApproval = true }
        if let notice = settled.notice { try await delivery.deliver([.notice(notice)], to: receive) }
    }

    private func finish(
        _ reader: inout some AnswerReader, _ model: String, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var events: [ChatEvent] = []
        let result: Result<ChatAnswer, DialectError>
        do { result = .success(try reader.finish(into: &events)) } catch { result = .failure(error) }
        try await delivery.deliver(events, to: receive)
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw AnswerFailure(error, model: model, from: access)
        }
    }

    /// Reads an answer that arrived as a whole, because it was requested so or because this server does not stream.
    func readWhole<D: Dialect>(
        _ exchange: HTTPExchange, in dialect: D, model: String, _ delivery: inout Delivery,
        _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        let body: [UInt8]
        do {
            body = try await exchange.collect(limit: AnswerLimits.largestWhole)
        } catch let error as HTTPError {
            throw AnswerFailure(error, hasBegun: true, from: access)
        }
        let first = body.first { $0 > 32 }
        if first == UInt8(ascii: "<") {
            throw AnswerFailure(webPageFrom: access, hasBegun: false, status: exchange.status.code)
        }
        var events: [ChatEvent] = []
        do {
            // Events with another media type: a text that begins with a field name or a comment is not JSON.
            if let first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") {
                return try await readKept(body, in: dialect, model, &delivery, receive)
            }
            let answer = try dialect.answer(in: body, into: &events)
            try await delivery.deliver(events, to: receive)
            return answer
        } catch let error as DialectError {
            try await delivery.deliver(events, to: receive)
            throw AnswerFailure(access.clean(error, body, dialect), model: model, from: access)
        }
    }

    private func readKept<D: Dialect>(
        _ body: [UInt8], in dialect: D, _ model: String, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var parser = EventParser(readsErrorField: readsErrorField)
        var batch: [ServerSentEvent] = []
        parser.feed(body)
        parser.readRest(into: &batch)
        guard !batch.isEmpty else {
            // It is not a stream either. The dialect reports the error.
            var events: [ChatEvent] = []
            return try dialect.answer(in: body, into: &events)
        }
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        var (name, data): (String, [UInt8]) = ("", [])
        var failure: DialectError?
        do throws(DialectError) {
            for event in batch {
                name = event.type
                data = Array(event.data)
                try reader.receive(name, data, into: &events)
            }
        } catch {
            failure = access.clean(error, name, data, dialect)
        }
        try await delivery.deliver(events, to: receive)
        if let failure { throw AnswerFailure(failure, model: model, from: access) }
        return try await finish(&reader, model, &delivery, receive)
    }
}

extension StreamedAnswer {
    /// One attempt. Throws `AnswerFailure` for failures of the server or the connection. All other errors are the
    /// caller's.
    func once(
        _ request: ChatRequest, in dialect: any Dialect, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        let body: JSONObject
        do {
            body = try dialect.body(of: request)
        } catch {
            throw AnswerFailure(error, model: request.model, from: access)
        }
        let exchange: HTTPExchange
        do {
            // The headers and the query of a native request are only sent to servers of its dialect.
            let native = request.native.flatMap { $0.dialect == type(of: dialect).kind ? $0 : nil }
            let place = try native?.query.map { try url.resolving("?" + $0) } ?? url
            exchange = try await (agent?.access(access) ?? access).ask(
                place, body, streams: request.streams, headers: native?.headers ?? [:])
        } catch let error as HTTPError {
            throw AnswerFailure(error, hasBegun: false, from: access)
        } catch  where !(error is CancellationError) {
            // The signer has its own error.
            throw AnswerFailure(error: error)
        }
        // This does nothing after an answer that was read to its end.
        defer { exchange.cancel() }
        guard exchange.status.isSuccess else {
            throw await refusal(exchange, in: dialect, model: request.model)
        }
        delivery.session?.read(exchange.headers)
        var answer: ChatAnswer
        if exchange.mediaType == "text/event-stream" {
            answer = try await readEvents(exchange, in: dialect, model: request.model, &delivery, receive)
            await exchange.settle()
        } else {
            answer = try await readWhole(exchange, in: dialect, model: request.model, &delivery, receive)
        }
        if let session = delivery.session { answer.start = session.completed(answer.start) }
        if delivery.isUnapproved { answer.isUnapproved = true }
        if delivery.hasUnfitApproval { answer.hasUnfitApproval = true }
        return answer
    }

    /// The error of a server that refused. A body that cannot be read to its end is used as far as it was read.
    private func refusal(_ exchange: HTTPExchange, in dialect: any Dialect, model: String) async -> AnswerFailure {
        let status = exchange.status.code
        if exchange.status.isRedirect {
            let place = exchange.headers["Location"].flatMap { try? exchange.url.resolving($0).server } ?? "elsewhere"
            return AnswerFailure(
                error: ChatError(
                    .redirected,
                    "\(access.name) redirects the request to \(PlainText.escape(place)), and redirects are not followed",
                    remedy: "check the address of the server", provider: access.id, status: status), status: status)
        }
        var body: [UInt8] = []
        do {
            for try await bytes in exchange.body {
                body += bytes
                if body.count > 64 << 10 { break }
            }
        } catch {
            // The status is enough.
        }
        body = access.clean(body)
        let refusal = dialect.refusal(in: body) ?? Self.refusal(amongEvents: body, in: dialect)
        // HTTPKit knows both forms of `Retry-After`.
        let wait = HTTPError(status: exchange.status, headers: exchange.headers, body: [], server: "").retryAfter
        let error = ChatError(refusal, status: status, retryAfter: wait, model: model, from: access)
        var failure = AnswerFailure(error: error, refusal: refusal, status: status)
        failure.isRefusal = true
        failure.isFinal = exchange.headers["x-should-retry"]?.lowercased() == "false"
        return failure
    }

    /// Some proxies write an error as a stream, whatever its status.
    private static func refusal(amongEvents body: [UInt8], in dialect: any Dialect) -> ServerRefusal? {
        var parser = EventParser()
        var events: [ServerSentEvent] = []
        parser.feed(body)
        parser.readRest(into: &events)
        return events.lazy.compactMap { dialect.refusal(in: Array($0.data)) }.first
    }
}

extension HTTPExchange {
    /// The media type of the body in lower case, without parameters.
    var mediaType: String {
        (headers["Content-Type"] ?? "").prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    /// Waits briefly for the end of the body, so that the connection can be reused.
    func settle() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // The answer is complete, so errors at the end do not matter.
                do { for try await _ in body {} } catch {}
            }
            group.addTask {
                do { try await ContinuousClock().sleep(for: .milliseconds(50)) } catch {}
            }
            await group.next()
            group.cancelAll()
        }
    }
}

/// Gathers small pieces of an answer that arrive faster than anyone can see.
///
/// Waking a waiting task for a few bytes switches between two threads, which costs more than reading them. Therefore,
/// when a small batch of events follows the previous one within a millisecond, the reader pauses for some milliseconds.
/// Slower streams, and streams with large batches, never wait.
struct EventBatcher {
    private static let quick: Duration = .milliseconds(1)
    private static let pause: Duration = .milliseconds(5)
    private static let handful = 32

    private var last: ContinuousClock.Instant?

    /// Call this after so many events were read and passed on. Throws when the task is cancelled.
    mutating func pause(after events: Int) async throws {
        if isDue(after: events, at: .now) { try await Task.sleep(for: Self.pause) }
    }

    mutating func isDue(after events: Int, at now: ContinuousClock.Instant) -> Bool {
        defer { last = now }
        guard events < Self.handful, let last else { return false }
        return now - last < Self.quick
    }
}

extension ChatAnswer.Finish {
    /// The word for users and programs: a server's own reason without the prefix that a store needs.
    package var shownWord: String {
        if case .other(let reason) = self { PlainText.escape(reason) } else { word }
    }
}
