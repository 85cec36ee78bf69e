import Capabilities
import HTTPClient
import HTTPCore
import JSON
import ModelKit

extension StreamedAnswer {
    /// One try. Throws `AnswerFailure` for what went wrong at the server or on the way; everything else is the caller's.
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
            // What belongs to the words of a client goes with them, and to no server of another dialect.
            let native = request.native.flatMap { $0.dialect == type(of: dialect).kind ? $0 : nil }
            let place = try native?.query.map { try url.resolving("?" + $0) } ?? url
            exchange = try await (agent?.access(access) ?? access).ask(
                place, body, streams: request.streams, headers: native?.headers ?? [:])
        } catch let error as HTTPError {
            throw AnswerFailure(error, hasBegun: false, from: access)
        } catch  where !(error is CancellationError) {
            // Whoever signs has its own words.
            throw AnswerFailure(error: error)
        }
        // After an answer that was read to its end this does nothing.
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

    /// What a server says that did not answer. A body that cannot be read to its end says what it says until there.
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
            // Its status has said what matters.
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
    /// The type of the body in small letters, without parameters.
    var mediaType: String {
        (headers["Content-Type"] ?? "").prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    /// Waits for a moment until the server has ended the body too, so that the connection can be used again.
    func settle() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Only the end is waited for; whatever it is like, the answer is there.
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
