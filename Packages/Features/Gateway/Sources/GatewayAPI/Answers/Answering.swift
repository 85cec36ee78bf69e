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
