import Capabilities
import HTTPCore
import JSON
import Synchronization

extension ServerCore {
    /// What a client is told of an error. Those that are no failures come from inside and say nothing to others.
    @inline(never)
    func answer(to error: any Error, _ request: ServerRequest) -> HTTPAnswer {
        let entry = request.connection.state.withLock { state in
            state.exchange.problem = error
            return state.exchange.route
        }
        let failure = Self.failure(error, isEnding: isEnding.load(ordering: .relaxed))
        guard var problem = failure as? RequestProblem, problem.isAboutInputs, let entry else {
            return answer(to: failure, id: request.id)
        }
        problem.status = entry.route.inputRefusal
        return answer(to: problem, id: request.id)
    }

    func answer(to failure: any Failure, id: String) -> HTTPAnswer {
        let problem = failure as? RequestProblem
        let status = problem?.status ?? configuration.status(failure) ?? Self.usualStatus(failure)
        let report = ProblemReport(
            status: status, code: failure.code, message: failure.message, inputs: problem?.inputs ?? [],
            requestID: id, details: failure.details)
        var answer = HTTPAnswer.json(configuration.envelope(report), status: status)
        answer.headers.append("X-Request-ID", id)
        tell(id, in: &answer.headers)
        for (name, value) in problem?.headers ?? HTTPHeaders() { answer.headers.append(name, value) }
        return answer
    }

    /// Tells the id of a request by which its client asks about it later.
    func tell(_ id: String, in headers: inout HTTPHeaders) {
        for name in configuration.requestIDHeaders { headers[name] = id }
    }

    private static func failure(_ error: any Error, isEnding: Bool) -> any Failure {
        switch error {
        case let failure as any Failure: failure
        case let refusal as RequestRefusal:
            RequestProblem(refusal.status, code: "server.body", "the request \(refusal.reason)")
        case let error as ValueError:
            RequestProblem.inputs([
                InputProblem(place: "body", name: error.path.joined(separator: "."), message: error.message)
            ])
        case is CancellationError where isEnding:
            RequestProblem.unavailable("the server ends; try again", retryAfter: 1)
        default:
            RequestProblem(
                .internalServerError, code: "server.internal",
                "something went wrong inside of the server; its traces have it under the id of this request")
        }
    }

    private static func usualStatus(_ failure: any Failure) -> HTTPStatus {
        if let error = failure as? HTTPError {
            switch error.kind {
            case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut: return .gatewayTimeout
            case .tooLarge, .headTooLarge, .badAnswer, .status: return .badGateway
            default: break
            }
        }
        return switch failure.exit {
        case .usage: .badRequest
        case .denied: .forbidden
        case .unreachable, .toolFailed: .badGateway
        case .unanswered: .conflict
        default: .internalServerError
        }
    }
}
