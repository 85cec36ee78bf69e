import Capabilities
import HTTPCore
import JSON

extension HTTPClient {
    /// Sends a request and waits for the whole answer, following redirects and trying again as the request allows.
    ///
    /// Every status is an answer; `requireSuccess` makes errors of those that mean failure. Throws `HTTPError`, or
    /// `CancellationError` when the task is cancelled, which ends the request at once.
    public nonisolated(nonsending) func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await perform(request, delivery: .whole(limit: request.limits.body)) { transfer, request, attempt in
            let (head, body) = try await transfer.whole()
            let response = HTTPResponse(
                status: head.status, headers: head.headers, url: request.url, version: head.version, body: body,
                isReused: head.isReused, attempts: attempt)
            return (response, head)
        }
    }

    /// Sends a request and returns as soon as the head of the answer is there; the body is read from the exchange.
    ///
    /// No more is taken from the server than is read. Once the head is there nothing is tried again.
    public nonisolated(nonsending) func open(_ request: HTTPRequest) async throws -> HTTPExchange {
        let delivery = TransferPlan.Delivery.stream(limit: request.limits.held)
        return try await perform(request, delivery: delivery) { transfer, request, attempt in
            // Held from here on: an answer that is not given out ends with it.
            let lease = TransferLease(transfer)
            let head = try await transfer.head()
            let exchange = HTTPExchange(
                head, url: request.url, attempts: attempt, patience: request.limits.words, lease: lease)
            return (exchange, head)
        }
    }

    private nonisolated(nonsending) func perform<Answer: Sendable>(
        _ request: HTTPRequest, delivery: TransferPlan.Delivery,
        _ answer: (Transfer, HTTPRequest, Int) async throws -> (Answer, ResponseHead)
    ) async throws -> Answer {
        let request = try await request.compressed()
        try request.check(userAgent: configuration.userAgent)
        let attributes: JSONObject = [
            "http.request.method": .string(request.method.rawValue), "server.address": .string(request.url.host),
            "server.port": .int(request.url.port),
        ]
        return try await configuration.tracer.span(
            "http.request", feature: configuration.feature, attributes: attributes
        ) { notes in
            try await performTraced(request, delivery, notes, answer)
        }
    }

    private nonisolated(nonsending) func performTraced<Answer>(
        _ original: HTTPRequest, _ delivery: TransferPlan.Delivery, _ notes: SpanNotes,
        _ answer: (Transfer, HTTPRequest, Int) async throws -> (Answer, ResponseHead)
    ) async throws -> Answer {
        var request = original
        var (attempt, followed) = (1, 0)
        var settled: Set<String> = []
        while true {
            try Task.checkCancellation()
            // Each time: a redirect leads elsewhere.
            let grant = Caller.current?.grant ?? configuration.withoutCaller
            try request.url.checkPermission(socket: request.unixSocket, within: grant)
            let upload = try Upload(request.body)
            let isLocal = request.unixSocket != nil || request.url.isLocal
            let mayRepeat = request.mayRepeat && request.body.canBeSentAgain
            var generator = SystemRandomNumberGenerator()
            let wait: Duration?
            do {
                let plan = TransferPlan(
                    request, lines: request.lines(traced: configuration.sendsTraceparent), delivery: delivery,
                    upload: upload, grant: grant)
                notes.note("http.request.resend_count", .int(attempt - 1 + followed))
                let (result, head) = try await answer(try start(plan, upload), request, attempt)
                configuration.trust.tell?()
                notes.note("http.response.status_code", .int(head.status.code))
                notes.note("network.protocol.version", .string("\(head.version)"))
                notes.note("http.connection.reused", .bool(head.isReused))
                if let next = try request.redirects.next(
                    after: request, status: head.status, headers: head.headers, followed: followed)
                {
                    request = next
                    followed += 1
                    continue
                }
                wait = request.retry.delay(
                    after: head.status, headers: head.headers, now: configuration.now(), attempt: attempt,
                    mayRepeat: mayRepeat, isLocal: isLocal, using: &generator)
                if wait == nil { return result }
            } catch let error as HTTPError {
                if let certificate = error.certificate, let settle = configuration.trust.settle,
                    request.body.canBeSentAgain, settled.insert(request.url.server).inserted
                {
                    try await settle(certificate)
                    trustChanged()
                    continue
                }
                // A stream is read from its beginning only once, even when nothing of it was sent.
                guard request.body.canBeSentAgain,
                    let delay = request.retry.delay(
                        after: error, attempt: attempt, mayRepeat: mayRepeat, isLocal: isLocal, using: &generator)
                else { throw error }
                wait = delay
            }
            if let wait { try await configuration.clock.sleep(for: wait) }
            attempt += 1
        }
    }

    private func start(_ plan: TransferPlan, _ upload: Upload) throws(HTTPError) -> Transfer {
        do {
            return try start(plan)
        } catch {
            if case .pipe(let pipe) = upload { pipe.close() }
            throw error
        }
    }
}

extension HTTPRequest {
    /// Refuses what must not be sent.
    func check(userAgent: String) throws(HTTPError) {
        func refusal(_ reason: String) -> HTTPError {
            HTTPError(
                .invalid, "the request to \(url.server) cannot be sent: \(reason)", mayHaveBeenSent: false,
                server: url.server)
        }
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
            throw refusal("its method is no word")
        }
        if let field = headers.firstInvalid {
            throw refusal(
                "the header \u{201C}\(field.name.prefix(40))\u{201D} contains a character that may not stand there")
        }
        guard userAgent.utf8.allSatisfy(HTTPHeaders.isValueByte) else {
            throw refusal("the name of this program contains a character that may not stand there")
        }
        for name in ["Content-Length", "Transfer-Encoding", "Expect"] where headers[name] != nil {
            throw refusal("\(name) follows from the body and is not set by hand")
        }
        if let idempotencyKey, !idempotencyKey.utf8.allSatisfy(HTTPHeaders.isValueByte) {
            throw refusal("its idempotency key contains a character that may not stand there")
        }
    }

    /// The header lines in libcurl's form, where a semicolon stands for an empty value.
    func lines(traced: Bool) -> [String] {
        var lines: [String] = []
        for (name, value) in headers { lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)") }
        if let idempotencyKey { lines.append("Idempotency-Key: \(idempotencyKey)") }
        if traced, headers["traceparent"] == nil, let context = TraceContext.current {
            lines.append("traceparent: \(context.traceparent)")
        }
        return lines
    }
}
