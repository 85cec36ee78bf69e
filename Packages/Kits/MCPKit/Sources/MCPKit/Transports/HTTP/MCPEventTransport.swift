import Capabilities
import HTTPClient
import HTTPCore
import JSON
import RPCKit
import Synchronization

/// The transport of 2024-11-05: a stream of events from the server, whose first event names the address for messages to
/// it. There is nothing to resume; when the stream ends, everything does.
final class MCPEventTransport: MCPTransport {
    private let caller: HTTPCaller
    private let outbox: Outbox
    /// The address for messages.
    private let target = Promise<HTTPURL>()

    init(_ caller: HTTPCaller) {
        self.caller = caller
        outbox = Outbox(messages: caller.limits.messages, bytes: caller.limits.outgoing)
    }

    var isLasting: Bool { true }

    /// Whether the server has shown that it knows this transport.
    var hasBegun: Bool { target.isSettled }

    func send(_ message: RPCMessage) throws(RPCFailure) {
        if case .request(let request) = message, request.modernVersion != nil {
            throw RPCFailure(.refused, "the transport of this server belongs to the legacy era")
        }
        try outbox.add(message)
    }

    func close() { outbox.close() }

    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.read(receive) }
            group.addTask { try await self.write(receive) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    // MARK: Receiving

    private func read(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        let limit = caller.limits.endpoint
        let exchange: HTTPExchange
        do {
            exchange = try await caller.open(
                .get, caller.url, ["Accept": "text/event-stream", "Cache-Control": "no-store"], patience: limit)
        } catch let error as HTTPError {
            throw RPCFailure(exchange: error)
        }
        guard exchange.status.isSuccess else {
            throw caller.refusal(exchange.status, try await caller.explanation(of: exchange))
        }
        guard exchange.hasEvents else {
            throw RPCFailure(.malformed, "\(caller.url.server) sent no events; check the address")
        }
        do {
            for try await event in caller.events(of: exchange) { try take(event, receive) }
        } catch let error as HTTPError {
            throw RPCFailure(exchange: error)
        }
        throw RPCFailure(.closed, "it ended its stream of events")
    }

    private func take(_ event: ServerSentEvent, _ receive: (RPCEvent) -> Void) throws {
        switch event.type {
        case "endpoint":
            // Only the first counts, so that nobody can lead messages astray later.
            guard !target.isSettled else { return }
            target.settle(try Self.address(in: event, from: caller.url))
        case ServerSentEvent.defaultType where !event.data.isEmpty:
            for part in RPCBody(Array(event.data)).parts { receive(RPCEvent(part)) }
        default: break
        }
    }

    /// The address that an event names for messages, which must be of the same server.
    static func address(in event: ServerSentEvent, from stream: HTTPURL) throws -> HTTPURL {
        let url = try stream.resolving(String(event.text.trimmingSpaces))
        guard url.isSameOrigin(as: stream) else {
            throw RPCFailure(
                .refused,
                "\(stream.server) wants messages to go to "
                    + "\(PlainText.escape(url.text, limit: 200)), which is another server")
        }
        return url
    }

    // MARK: Sending

    private func write(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        let limit = caller.limits.endpoint
        guard let target = try await withTimeLimit(limit, on: ContinuousClock(), { try await self.target.value() })
        else {
            throw RPCFailure(
                .timedOut, "\(caller.url.server) did not name the address for messages within \(limit.words)")
        }
        await withDiscardingTaskGroup { group in
            // The end of the handshake must arrive before what follows it.
            var gate: Promise<Void>?
            while let items = await outbox.next() {
                for item in items {
                    let isTaken = Promise<Void>()
                    group.addTask { [gate] in
                        await self.post(item, to: target, after: gate, receive)
                        isTaken.settle(())
                    }
                    if case .notification(let notification) = item.message,
                        notification.method == "notifications/initialized"
                    {
                        gate = isTaken
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func post(
        _ item: Outbox.Item, to target: HTTPURL, after gate: Promise<Void>?,
        _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) async {
        defer { outbox.done(item) }
        do {
            try await gate?.value()
            let exchange = try await caller.open(
                .post, target, ["Content-Type": "application/json"], body: item.body,
                patience: caller.limits.acceptance)
            guard exchange.status.isSuccess else {
                throw caller.refusal(exchange.status, try await caller.explanation(of: exchange))
            }
            try await caller.finish(exchange)
        } catch {
            guard !Task.isCancelled, case .request(let request) = item.message else { return }
            receive(.failed(request.id, RPCFailure(exchange: error)))
        }
    }
}
