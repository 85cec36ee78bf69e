import HTTPCore
import HTTPServer
import RPCKit

/// The legacy era: messages of a session, whose answers can be read again.
extension MCPHTTPServer {
    func answerLegacy(_ messages: [RPCMessage], isBatch: Bool, _ request: ServerRequest) async throws -> HTTPAnswer {
        let session: ServerSession
        let isNew = messages.contains { message in
            if case .request(let request) = message { request.method == "initialize" } else { false }
        }
        if isNew {
            guard messages.count == 1 else {
                return Self.refusal(.badRequest, RPCError.invalidRequest, "initialize must come alone")
            }
            session = try makeSession(for: request.principal)
        } else {
            switch find(request) {
            case .success(let found): session = found
            case .failure(let refusal): return refusal.answer
            }
            if isBatch, session.version != .march2025 {
                return Self.refusal(.badRequest, RPCError.invalidRequest, "this revision has no batches")
            }
        }
        session.enter()
        let visit = Lease { session.leave() }
        let ids = messages.compactMap { message -> RPCID? in
            if case .request(let request) = message { request.id } else { nil }
        }
        if ids.isEmpty {
            try await session.streams.deliver(messages)
            return .empty(.accepted)
        }
        guard let stream = session.streams.open(for: ids) else {
            return Self.refusal(
                .badRequest, RPCError.invalidRequest, "a request with this id is being answered already")
        }
        try await session.streams.deliver(messages)
        if isNew { return try await opened(session, stream) }
        let isLasting = messages.contains { message in
            if case .request(let request) = message { MCPServer.isLasting(request.method) } else { false }
        }
        if isBatch || isLasting {
            return events(of: stream, after: 0, session, visit, isPrimed: true)
        }
        guard let answer = try await stream.answer() else { return .empty(.accepted) }
        return .bytes(answer.bytes, type: "application/json")
    }

    private func opened(_ session: ServerSession, _ stream: ServerStream) async throws -> HTTPAnswer {
        guard let answer = try await stream.answer() else {
            throw RequestProblem.unavailable("the server is ending", retryAfter: 1)
        }
        let json = HTTPAnswer.bytes(answer.bytes, type: "application/json")
        guard answer.kind == .answer(code: nil) else {
            end(session)
            return json
        }
        return json.header(HTTPChecks.Name.session, session.id)
    }

    func get(_ request: ServerRequest) throws -> HTTPAnswer {
        if request.headers[HTTPChecks.Name.version].flatMap(MCPVersion.init)?.isModern == true {
            return Self.refusal(
                .methodNotAllowed, RPCError.invalidRequest, "this revision sends every message by POST"
            ).header("Allow", "POST")
        }
        guard HTTPChecks.accepts(["text/event-stream"], request.headers) else {
            return Self.refusal(HTTPStatus(406), RPCError.invalidRequest, "Accept must name text/event-stream")
        }
        let session: ServerSession
        switch find(request) {
        case .success(let found): session = found
        case .failure(let refusal): return refusal.answer
        }
        var (stream, number) = (session.streams.main, session.streams.main.written)
        if let last = request.headers["Last-Event-ID"] {
            // A client that gets an empty stream here would come back again and again.
            guard let place = session.streams.place(of: last), place.stream.goesOn(after: place.number) else {
                return Self.refusal(
                    .badRequest, RPCError.invalidRequest,
                    "nothing follows the event of Last-Event-ID, or it is not kept any more")
            }
            (stream, number) = place
        }
        session.enter()
        return events(of: stream, after: number, session, Lease { session.leave() }, isPrimed: false)
    }

    func delete(_ request: ServerRequest) throws -> HTTPAnswer {
        switch find(request) {
        case .success(let session):
            end(session)
            return .empty(.noContent)
        case .failure(let refusal): return refusal.answer
        }
    }

    // MARK: Parts

    private struct Refusal: Error {
        let answer: HTTPAnswer

        init(_ status: HTTPStatus, _ reason: String) {
            answer = MCPHTTPServer.refusal(status, RPCError.invalidRequest, reason)
        }
    }

    private func find(_ request: ServerRequest) -> Result<ServerSession, Refusal> {
        guard let id = request.headers[HTTPChecks.Name.session] else {
            return .failure(Refusal(.badRequest, "\(HTTPChecks.Name.session) is missing; begin with initialize"))
        }
        guard let session = session(id, of: request.principal) else {
            return .failure(Refusal(.notFound, "there is no such session; begin a new one with initialize"))
        }
        // Without the header it is the revision that had none yet.
        if let version = request.headers[HTTPChecks.Name.version], MCPVersion(rawValue: version) == nil {
            return .failure(Refusal(.badRequest, "\(HTTPChecks.Name.version) names no revision that is known here"))
        }
        return .success(session)
    }

    /// - Parameter visit: ends when the response does.
    private func events(
        of stream: ServerStream, after number: Int, _ session: ServerSession, _ visit: Lease, isPrimed: Bool
    ) -> HTTPAnswer {
        .events(isEndless: stream.number == 0) { events in
            defer { visit.end() }
            // Older clients take an event without data for a broken message.
            if isPrimed, let version = session.version, version >= .november2025 {
                try await events.send(data: "", id: "\(stream.number)-0")
            }
            try await stream.play(after: number) { part in
                var writer = EventWriter()
                for event in part { try writer.event(event.bytes, id: "\(stream.number)-\(event.number)") }
                try await events.send(written: writer.take())
            }
        }
    }
}
