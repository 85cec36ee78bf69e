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
        let turn = try await services.turns.open(asked.input)
        do {
            try await turn.forward(to: { [isRich = asked.isRich] events in
                if isRich { timeline.add(events) }
                return true
            })
            try Task.checkCancellation()
        } catch {
            await turn.leave()
            throw error
        }
        let report = try await turn.report()
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
        let streamed = StreamedAnswer(turn, form, isAgent: asked.isAgent, since: start, services.metrics)
        let first = opening.events
        return placed(HTTPAnswer.events { client in try await streamed.write(first, to: client) }, turn.place)
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
