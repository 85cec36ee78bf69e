import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import Synchronization
import TurnLoop

/// Something that was asked and can be answered.
protocol Answerable: Sendable {
    func answer() async throws -> HTTPAnswer
}

/// Runs what was asked and answers in the client's form. An object, since it lives across waits, of which there may be
/// thousands at a time.
final class Answering<Form: AnswerForm>: Answerable {
    private let services: APIServices
    private let asked: Asked
    private let form: Form
    private let start = ContinuousClock.now

    init(services: APIServices, asked: Asked, form: Form) {
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
        // The answer is there and was paid for, but could not be counted. As an `error` clients would throw it away.
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
        let opening = try await Opening(of: turn, within: services.openings, waitsForServer: !asked.isAgent)
        if opening.isEnded, !opening.hasContent { try refuse(try await turn.report()) }
        return begin(turn, opening)
    }

    /// Throws where there will be no answer: then the client gets a status of its own.
    @inline(never)
    private func refuse(_ report: TurnReport) throws {
        guard let failure = report.failure else { return }
        services.metrics.count(report, took: .now - start)
        throw RequestProblem(failure, of: report)
    }

    @inline(never)
    private func begin(_ turn: OpenTurn, _ opening: Opening) -> HTTPAnswer {
        let answer = StreamedAnswer(
            turn, form, after: opening.events, isAgent: asked.isAgent, since: start, services.metrics)
        // Not an endless one: it ends with its turn, for which the end of the server leaves some time.
        return placed(HTTPAnswer.events { try await answer.write(to: $0) }, turn.place, turn)
    }

    /// Names that a client made up, as a header line may have them.
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

/// The tools that a turn used, for an answer that is not streamed.
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

/// How a turn began: all that was told before the head of its answer was written.
struct Opening: Sendable {
    private(set) var events: [GatewayEvent] = []
    private(set) var isEnded = false

    /// Waits until there is something to tell, and a while at most: until then a failure is an answer with a status of
    /// its own, and afterwards a frame in a stream that seemed well.
    ///
    /// - Parameters:
    ///   - patience: Rings when the while is over. One for all turns, because a sleep that is cut short keeps its memory
    ///     until its time has come.
    ///   - waitsForServer: Whether the while begins only when the server has begun to answer, so that what it refuses is
    ///     never a stream.
    init(of turn: OpenTurn, within patience: Alarms, waitsForServer: Bool) async throws {
        var alarm: Int?
        defer { if let alarm { patience.cancel(alarm) } }
        // That it began is there at once; only what comes then has to be waited for.
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

    /// Whether a word of the answer is there, or of what is done for it. What is only about it is none.
    var hasContent: Bool {
        events.contains { event in
            switch event {
            case .began, .answers, .notice, .chat(.began), .chat(.usage), .chat(.notice): false
            default: true
            }
        }
    }
}

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
