import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import ModelKit
import Synchronization

/// An answer that is written while its turn runs: what the turn tells goes to the client where it comes into being, and
/// the task of the connection only waits for the end.
///
/// An object, because there may be thousands at a time, and what the task of a connection keeps across a wait is memory of
/// each.
final class StreamedAnswer<Form: AnswerForm>: Sendable {
    private let turn: OpenTurn
    private let metrics: GatewayMetrics
    private let isAgent: Bool
    private let start: ContinuousClock.Instant
    private let form: Mutex<Form>
    /// What was told before there was somebody to tell it to.
    private let first: Mutex<[GatewayEvent]>

    init(
        _ turn: OpenTurn, _ form: Form, after first: [GatewayEvent], isAgent: Bool,
        since start: ContinuousClock.Instant, _ metrics: GatewayMetrics
    ) {
        self.turn = turn
        self.metrics = metrics
        self.isAgent = isAgent
        self.start = start
        self.form = Mutex(form)
        self.first = Mutex(first)
    }

    /// Writes everything, from the first event to the end.
    func write(to client: EventStreamWriter) async throws {
        do {
            if !(try tellFirst(client)) { try await client.flushed() }
            try await turn.forward(to: { try self.tell($0, client) }, room: { try await client.flushed() })
            // The events also end when the client has gone.
            try Task.checkCancellation()
            try await finish(client)
        } catch {
            // Whether the turn goes on is decided where it runs.
            await turn.leave()
            metrics.countVanished()
            throw error
        }
    }

    @inline(never)
    private func tellFirst(_ client: EventStreamWriter) throws -> Bool {
        let events = first.withLock { first in
            defer { first = [] }
            return first
        }
        return try tell(events, client)
    }

    /// False when the client has not taken everything.
    @inline(never)
    private func tell(_ events: [GatewayEvent], _ client: EventStreamWriter) throws -> Bool {
        let bytes = try form.withLock { form in
            var writer = EventWriter()
            for event in events { try form.write(event, into: &writer) }
            return writer.take()
        }
        return try bytes.isEmpty || client.offer(written: bytes)
    }

    /// Writes the last words, which also tell of a failure: the head is out, so that no status can.
    @inline(never)
    private func finish(_ client: EventStreamWriter) async throws {
        var report: TurnReport?
        let words: [UInt8]
        do {
            let ended = try await turn.report()
            report = ended
            words = try lastWords(of: ended)
        } catch let failure as any Failure {
            words = try lastWords(of: failure)
        }
        try await client.send(written: words)
        if let report { metrics.count(report, took: .now - start) }
    }

    @inline(never)
    private func lastWords(of report: TurnReport) throws -> [UInt8] {
        if let failure = report.failure { return try lastWords(of: failure) }
        return try form.withLock { form in
            var writer = EventWriter()
            try form.end(report.answer(isAgent: isAgent), into: &writer)
            return writer.take()
        }
    }

    private func lastWords(of failure: any Failure) throws -> [UInt8] {
        try form.withLock { form in
            var writer = EventWriter()
            try form.fail(ServerRefusal(failure), into: &writer)
            return writer.take()
        }
    }
}
