import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import Synchronization
import TurnLoop

/// A request that can be answered.
protocol Answerable: Sendable {
    func answer() async throws -> HTTPAnswer
}

/// Runs a request and answers in the client's form. It is a class, because it lives across suspension points and there
/// may be thousands of them at a time.
final class ChatResponder<Form: AnswerForm>: Answerable {
    private let services: APIServices
    private let asked: GatewayRequest
    private let form: Form
    private let start = ContinuousClock.now

    init(services: APIServices, asked: GatewayRequest, form: Form) {
        self.services = services
        self.asked = asked
        self.form = form
    }

    func answer() async throws -> HTTPAnswer {
        do {
            return asked.streams ? try await stream() : try await whole()
        } catch let error as GatewayError {
            throw RequestProblem(error)
        } catch let error as DialectError {
            throw RequestProblem(error)
        }
    }

    // MARK: - Whole answers

    private func whole() async throws -> HTTPAnswer {
        let timeline = asked.isRich ? Timeline() : nil
        let turn = try await services.turns.open(asked.input)
        do {
            try await turn.forward(to: { events in
                timeline?.add(events)
                return true
            })
            try Task.checkCancellation()
        } catch {
            await turn.leave()
            throw error
        }
        return try answer(try await turn.report(), timeline, turn)
    }

    @inline(never)
    private func answer(_ report: TurnReport, _ timeline: Timeline?, _ turn: OpenTurn) throws -> HTTPAnswer {
        services.metrics.count(report, took: .now - start)
        let isWhole = !asked.isAgent && report.outcome.answer != nil
        if let failure = report.failure, !isWhole { throw RequestProblem(failure, of: report) }
        var reply = form.reply(report.answer(isAgent: asked.isAgent))
        // The answer is complete and paid for, but could not be counted. With an `error` member clients would discard
        // it.
        if let failure = report.failure {
            let code = WireCode.text(of: failure.code)
            reply["warning"] = ["code": .string(code), "message": .string(failure.message)]
        }
        if let timeline { reply["timeline"] = .array(timeline.frames) }
        return placed(HTTPAnswer.json(JSON.object(reply)), report.place, turn)
    }

    // MARK: - Streams

    private func stream() async throws -> HTTPAnswer {
        let turn = try await services.turns.open(asked.input)
        let opening = try await TurnOpening(of: turn, within: services.openings, waitsForServer: !asked.isAgent)
        if opening.isEnded, !opening.hasContent { try refuse(try await turn.report()) }
        return begin(turn, opening)
    }

    /// Throws when there will be no answer, so that the client gets the right status.
    @inline(never)
    private func refuse(_ report: TurnReport) throws {
        guard let failure = report.failure else { return }
        services.metrics.count(report, took: .now - start)
        throw RequestProblem(failure, of: report)
    }

    @inline(never)
    private func begin(_ turn: OpenTurn, _ opening: TurnOpening) -> HTTPAnswer {
        let answer = StreamedAnswer(
            turn, form, after: opening.events, isAgent: asked.isAgent, since: start, services.metrics)
        // The stream ends with its turn, and a stopping server leaves turns some time to end.
        return placed(HTTPAnswer.events { try await answer.write(to: $0) }, turn.place, turn)
    }

    /// Names sent by a client, limited to what a header may contain.
    private static func line(of names: [String]) -> String {
        names.prefix(32).map { name in
            String(name.unicodeScalars.prefix(64).map { 0x21...0x7E ~= $0.value ? Character($0) : "?" })
        }.joined(separator: ", ")
    }

    private func placed(_ answer: HTTPAnswer, _ place: TurnPlace, _ turn: OpenTurn) -> HTTPAnswer {
        var answer = answer
        if !turn.dropped.isEmpty { answer.headers["X-Martlet-Dropped"] = Self.line(of: turn.dropped) }
        answer.headers["X-Session-ID"] = place.session
        answer.headers["X-Project-ID"] = place.project
        return answer
    }
}

/// Collects the tool calls of a turn for an answer that is not streamed.
private final class Timeline: Sendable {
    private let state = Mutex<(frames: [JSON], names: [String: String])>(([], [:]))

    func add(_ events: [GatewayEvent]) {
        state.withLock { state in
            for event in events {
                switch event {
                case .chat(.call(let call)):
                    state.names[call.id] = call.name
                    state.frames.append(WireCall(call: call).json)
                case .chat(.result(let result)):
                    state.frames.append(WireResult(result: result, name: state.names[result.call]).json)
                default: break
                }
            }
        }
    }

    var frames: [JSON] { state.withLock { $0.frames } }
}

/// The start of a turn: the events that came before the head of its response was written.
struct TurnOpening: Sendable {
    private(set) var events: [GatewayEvent] = []
    private(set) var isEnded = false

    /// Waits for the first content, but only for a limited time. A failure before that gets its own status; a failure
    /// after it becomes a frame in the stream.
    ///
    /// - Parameters:
    ///   - patience: Fires when the time is over. It is shared by all turns, because a cancelled sleep keeps its memory
    ///     until its time has come.
    ///   - waitsForServer: Whether the time starts only when the server has started to answer, so that a request that
    ///     the server refuses never becomes a stream.
    init(of turn: OpenTurn, within patience: Alarms, waitsForServer: Bool) async throws {
        var alarm: Int?
        defer { if let alarm { patience.cancel(alarm) } }
        // The first event is there at once; only the following ones take time.
        await take(from: turn)
        while !isEnded, !hasContent {
            if alarm == nil, !waitsForServer || hasServerBegun { alarm = patience.set { turn.nudge() } }
            guard await turn.ready() else { break }
            await take(from: turn)
        }
        try Task.checkCancellation()
    }

    private var hasServerBegun: Bool {
        events.contains { if case .chat(.notice) = $0 { false } else if case .chat = $0 { true } else { false } }
    }

    private mutating func take(from turn: OpenTurn) async {
        if let more = await turn.next() { events += more } else { isEnded = true }
    }

    /// Whether there is content of the answer, or a tool call. Notices and usage do not count.
    var hasContent: Bool {
        events.contains { event in
            switch event {
            case .began, .answers, .notice, .chat(.began), .chat(.usage), .chat(.notice): false
            default: true
            }
        }
    }
}

/// An answer that is streamed while its turn runs. The turn's task writes events directly to the client, and the
/// connection's task only waits for the end.
///
/// It is a class, because there may be thousands at a time, and everything that a connection's task keeps across a
/// suspension point takes memory for each.
final class StreamedAnswer<Form: AnswerForm>: Sendable {
    private let turn: OpenTurn
    private let metrics: TurnMetrics
    private let isAgent: Bool
    private let start: ContinuousClock.Instant
    private let form: Mutex<Form>
    /// The events that came before the client could be written to.
    private let first: Mutex<[GatewayEvent]>

    init(
        _ turn: OpenTurn, _ form: Form, after first: [GatewayEvent], isAgent: Bool,
        since start: ContinuousClock.Instant, _ metrics: TurnMetrics
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
            // The turn decides itself whether it continues.
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

    /// Returns false when the client's buffer is full.
    @inline(never)
    private func tell(_ events: [GatewayEvent], _ client: EventStreamWriter) throws -> Bool {
        let bytes = try form.withLock { form in
            var writer = EventWriter()
            for event in events { try form.write(event, into: &writer) }
            return writer.take()
        }
        return try bytes.isEmpty || client.offer(written: bytes)
    }

    /// Writes the end of the stream. It also reports a failure, since the status was already sent.
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
