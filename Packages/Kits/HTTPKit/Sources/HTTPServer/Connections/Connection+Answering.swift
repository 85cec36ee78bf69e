import HTTPCore
import Synchronization

extension Connection {
    /// Answers one request. For an event stream, only the head is prepared.
    @inline(never)
    nonisolated(nonsending) func respond(_ request: ServerRequest) async throws -> Rest {
        do {
            return try await write(try await core.handle(request), request)
        } catch {
            return .nothing(keeps: try await writeWhole(try whole(try fallback(error, request), request)))
        }
    }

    /// Converts an error to a response. Rethrows if no response is possible: the client hung up and the handler
    /// noticed, or a response has already begun and its missing end signals the failure.
    @inline(never)
    private func fallback(_ error: any Error, _ request: ServerRequest) throws -> HTTPAnswer {
        leave()
        let (hasBegun, isHungUp) = state.withLock { ($0.exchange.hasBegun, $0.isHungUp) }
        if hasBegun || error is ClientGone || error is CancellationError && isHungUp { throw error }
        return core.marked(core.answer(to: error, request), request)
    }

    /// Answers an invalid request and ends the connection, because the start of the next request is unknown. After any
    /// other error the client is gone or was given up, and gets no response.
    @inline(never)
    nonisolated(nonsending) func refuse(_ error: any Error) async {
        guard let refusal = error as? RequestRefusal else { return }
        do {
            try await send(try refusalBytes(refusal))
            await linger()
        } catch {
            // The client is gone.
        }
    }

    private func refusalBytes(_ refusal: RequestRefusal) throws -> [UInt8] {
        let problem = RequestProblem(refusal.status, code: "server.malformed", "the request \(refusal.reason)")
        let answer = core.answer(to: problem, id: core.newID())
        guard case .bytes(let body) = answer.content else { return [] }
        let head = AnswerHead(
            status: answer.status, headers: answer.headers, framing: .length(body.count), closes: true,
            isOldClient: false)
        var bytes: [UInt8] = []
        try head.write(into: &bytes, core.dateLine)
        return bytes + body
    }
}

// MARK: Writing answers

extension Connection {
    /// A response as it is sent.
    struct Written {
        var bytes: [UInt8]
        /// A large body, sent separately because joining it with the head would copy it.
        var body: [UInt8] = []
        let closes: Bool
    }

    /// The remaining work for a response.
    enum Rest {
        case nothing(keeps: Bool)
        case events(EventStream)
    }

    /// Writes the response; for an event stream, only its beginning.
    private nonisolated(nonsending) func write(_ answer: HTTPAnswer, _ request: ServerRequest) async throws -> Rest {
        switch answer.content {
        case .bytes(let bytes)
        where bytes.count > FileThreads.large && Gzip.isAccepted(request.headers["Accept-Encoding"]):
            return .nothing(
                keeps: try await core.files.run { try await self.writeWhole(try self.whole(answer, request)) })
        case .none, .bytes:
            return .nothing(keeps: try await writeWhole(try whole(answer, request)))
        case .file(let path):
            return .nothing(keeps: try await writeFile(answer, path, request))
        case .stream(let length, let body):
            let plan = try beginStream(answer, length, request)
            return .nothing(keeps: try await writeStream(plan, request.number, body))
        case .events(let isEndless, let body):
            let plan = try beginStream(answer, nil, request)
            if plan.bare != nil { return .nothing(keeps: try await writeStream(plan, request.number) { _ in }) }
            try await writePiece([], of: request.number)
            let writer = BodyWriter(connection: self, number: request.number)
            let events = EventStreamWriter(body: writer, lastEventID: request.headers["Last-Event-ID"])
            return .events(
                EventStream(events, request.number, closes: plan.closes, isEndless: isEndless, body))
        case .webSocket(let protocols, let limits, let body):
            try await writeWebSocket(answer, request, protocols, limits, body)
            return .nothing(keeps: false)
        }
    }

    @inline(never)
    private nonisolated(nonsending) func writeWhole(_ written: Written) async throws -> Bool {
        try await send(written.bytes)
        if !written.body.isEmpty { try await send(written.body) }
        return !written.closes
    }

    @inline(never)
    private func whole(_ answer: HTTPAnswer, _ request: ServerRequest) throws -> Written {
        guard case .bytes(var bytes) = answer.content else {
            return try whole(answer.status, answer.headers, [], 0..<0, request)
        }
        var shape = try AnswerShape(
            answer, length: bytes.count, hasRanges: answer.headers["ETag"] != nil, request.head)
        shape.compress(&bytes, request.headers)
        return try whole(shape.status, shape.headers, bytes, shape.range, request)
    }

    func whole(
        _ status: HTTPStatus, _ headers: HTTPHeaders, _ body: [UInt8], _ range: Range<Int>, _ request: ServerRequest
    ) throws -> Written {
        let head = makeHead(status, headers, .length(range.count), request.head)
        let isBare = head.framing == .bare || request.method == .head
        let isSmall = range.count <= 64 << 10
        var written = Written(bytes: [], closes: head.closes)
        written.bytes.reserveCapacity(256 + (isSmall && !isBare ? range.count : 0))
        try head.write(into: &written.bytes, core.dateLine)
        if !isBare, isSmall { written.bytes.append(body.span, range) }
        if !isBare, !isSmall { written.body = range.count == body.count ? body : Array(body[range]) }
        begin(head, isBare ? 0 : range.count)
        return written
    }

    func begin(_ head: AnswerHead, _ length: Int) {
        state.withLock { state in
            state.exchange.hasBegun = true
            state.exchange.status = head.status
            state.exchange.written = length
        }
    }

    /// Builds the head of a response. Both sides and the unread rest of the body decide whether the connection stays
    /// open.
    func makeHead(
        _ status: HTTPStatus, _ headers: HTTPHeaders, _ framing: AnswerHead.Framing, _ request: HTTPRequestHead
    ) -> AnswerHead {
        let isOpen = state.withLock { state in
            !state.isLast && state.exchange.canSkipBody(request.body, core.limits.discarded)
        }
        let isBare = status == .noContent || status == .notModified || status.code < 200
        let closes = !request.keepsAlive || !isOpen || framing == .untilClose
        return AnswerHead(
            status: status, headers: headers, framing: isBare ? .bare : framing, closes: closes,
            isOldClient: request.version == .http10)
    }
}

extension Connection.Exchange {
    /// Whether the rest of the body may be discarded, so that the connection can stay open.
    fileprivate func canSkipBody(_ body: HTTPRequestHead.Body, _ limit: Int) -> Bool {
        switch self.body {
        case .ended: return true
        case .refused: return false
        case .open where owesContinue: return false
        case .open(let received):
            if case .length(let length) = body { return length - received <= limit }
            return received <= limit
        }
    }
}
