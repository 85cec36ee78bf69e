import Capabilities
import HTTPCore
import HTTPServer
import JSON
import RPCKit

/// The modern era: each request says everything, and closing its response cancels it.
extension MCPHTTPServer {
    func answerModern(_ message: RPCMessage, _ http: ServerRequest) async throws -> HTTPAnswer {
        switch message {
        case .response:
            return Self.refusal(.badRequest, RPCError.invalidRequest, "a client of this revision sends no answers")
        case .notification:
            let version = http.headers[HTTPChecks.Name.version] ?? ""
            guard MCPVersion(rawValue: version)?.isModern == true else {
                return Self.answer(.badRequest, RPCResponse(nil, .failure(ModernEnvelope.unsupported(version))))
            }
            return .empty(.accepted)
        case .request(let request):
            do {
                let envelope = try ModernEnvelope(request.params)
                try HTTPChecks.check(request, envelope, http.headers)
                let peer = try envelope.peer(http.principal)
                try await checkParameters(of: request, peer, http.headers)
                if request.method == "subscriptions/listen" { return try await listen(request, peer) }
                return try await answer(request, peer, envelope.level)
            } catch {
                guard let answer = MCPServer.error(error, .newest) else { throw CancellationError() }
                return Self.answer(HTTPChecks.status(answer.code), RPCResponse(request.id, .failure(answer)))
            }
        }
    }

    private func checkParameters(of request: RPCRequest, _ peer: MCPPeer, _ headers: HTTPHeaders) async throws {
        let arguments = request.params?["arguments"]
        // Without either, no header can be wrong or missing.
        guard request.method == "tools/call", arguments?.object?.isEmpty == false || HTTPChecks.hasParameters(headers),
            let name = request.params?["name"]?.string, server.service.capabilities(for: peer).tools != nil,
            let tool = try await server.service.tool(name, for: peer)
        else { return }
        try HTTPChecks.check(arguments, by: tool.input, headers)
    }

    /// Answers by JSON if nothing is told before, which also tells the status, and else by events.
    private func answer(
        _ request: RPCRequest, _ peer: MCPPeer, _ level: MCPLogEntry.Level?
    ) async throws -> HTTPAnswer {
        let stream = ServerStream(keeping: limits.replay)
        // The task may be left over when the client goes, and is then awaited by its owner.
        let work = owner.start { [server, owner] in
            let result: Result<JSON, RPCError>
            do {
                let json = try await server.answer(request, peer, level: level, owner: owner) { method, params in
                    stream.append(.notification(RPCNotification(method, .object(params))))
                }
                result = .success(json)
            } catch {
                guard let answer = MCPServer.error(error, peer.version) else { return stream.finish() }
                result = .failure(answer)
            }
            stream.append(.response(RPCResponse(request.id, result)))
            stream.finish()
        }
        guard let work else { throw RequestProblem.unavailable("the server is ending", retryAfter: 1) }
        let lease = Lease { work.cancel() }
        let first = try await withTimeLimit(limits.silence, on: ContinuousClock()) { try await stream.first() }
        if case .some(let first?) = first, case .answer(let code) = first.kind {
            return .bytes(first.bytes, type: "application/json", status: HTTPChecks.status(code))
        }
        return Self.events(of: stream, lease)
    }

    private func listen(_ request: RPCRequest, _ peer: MCPPeer) async throws -> HTTPAnswer {
        guard addListener() else {
            throw RPCError(
                RPCError.internalError, "\(limits.listeners) clients are told changes already, which is the limit")
        }
        let place = Lease { self.removeListener() }
        let subscription = try await server.subscription(request, peer, owner)
        let stream = ServerStream(keeping: limits.replay)
        let end = server.begin(subscription, for: peer) { method, params in
            stream.append(.notification(RPCNotification(method, .object(params))))
        }
        let lease = Lease {
            end()
            place.end()
        }
        return Self.events(of: stream, lease, isEndless: true)
    }

    private static func events(of stream: ServerStream, _ lease: Lease, isEndless: Bool = false) -> HTTPAnswer {
        .events(isEndless: isEndless) { events in
            defer { lease.end() }
            try await stream.play(after: 0) { part in
                var writer = EventWriter()
                for event in part { try writer.event(event.bytes) }
                try await events.send(written: writer.take())
            }
        }
    }
}
