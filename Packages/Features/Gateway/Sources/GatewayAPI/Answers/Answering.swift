import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import Synchronization
import TurnLoop

/// Runs what was asked and answers in the client's form.
struct Answering<Form: AnswerForm>: Sendable {
    let services: APIServices
    let asked: Asked
    let form: Form

    func answer() async throws -> HTTPAnswer {
        asked.streams ? try await stream() : try await whole()
    }

    // MARK: - Whole answers

    private func whole() async throws -> HTTPAnswer {
        let start = ContinuousClock.now
        let timeline = Timeline()
        let report = try await services.turns.run(asked.input) { [isRich = asked.isRich] events in
            if isRich { timeline.add(events) }
        }
        services.metrics.count(report, took: .now - start)
        let isWhole = !asked.isAgent && report.outcome.answer != nil
        if let failure = report.failure, !isWhole { throw RequestProblem(failure) }
        var reply = form.reply(report.answer(isAgent: asked.isAgent))
        // The answer is there and was paid for, but could not be counted. As an `error` clients would throw it away.
        if let failure = report.failure {
            let code = WireCode.text(of: failure.code)
            reply["warning"] = ["code": .string(code), "message": .string(failure.message)]
        }
        if asked.isRich { reply["timeline"] = .array(timeline.frames) }
        return placed(HTTPAnswer.json(JSON.object(reply)), report.place)
    }

    // MARK: - Streams

    private func stream() async throws -> HTTPAnswer {
        let start = ContinuousClock.now
        let turn = try await services.turns.open(asked.input)
        let opening = try await Opening(of: turn, within: services.patience)
        if opening.isEnded, !opening.hasContent {
            let report = try await turn.report()
            if let failure = report.failure {
                services.metrics.count(report, took: .now - start)
                throw RequestProblem(failure)
            }
        }
        let answer = HTTPAnswer.events { events in
            do {
                try await write(turn, opening, start, to: events)
            } catch {
                // The client is gone: whether the turn goes on is decided where it runs.
                await turn.leave()
                services.metrics.countVanished()
                throw error
            }
        }
        return placed(answer, turn.place)
    }

    private func write(
        _ turn: OpenTurn, _ opening: Opening, _ start: ContinuousClock.Instant, to events: EventStreamWriter
    ) async throws {
        var form = form
        var writer = EventWriter()
        var batch: [GatewayEvent]? = opening.events
        while let now = batch {
            for event in now { try form.write(event, into: &writer) }
            try await events.send(written: writer.take())
            batch = await turn.next()
        }
        // The events also end when the client has gone.
        try Task.checkCancellation()
        var report: TurnReport?
        do {
            let ended = try await turn.report()
            report = ended
            if let failure = ended.failure {
                try form.fail(ServerRefusal(failure), into: &writer)
            } else {
                try form.end(ended.answer(isAgent: asked.isAgent), into: &writer)
            }
        } catch let failure as any Failure {
            // The head is out, so that the stream has to tell what a status would have told.
            try form.fail(ServerRefusal(failure), into: &writer)
        }
        try await events.send(written: writer.take())
        if let report { services.metrics.count(report, took: .now - start) }
    }

    private func placed(_ answer: HTTPAnswer, _ place: TurnPlace) -> HTTPAnswer {
        var answer = answer
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
