import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import TurnLoop

extension RequestProblem {
    static func noProject(_ id: String) -> RequestProblem {
        missing("project", id, "GET /v1/projects lists them")
    }

    static func noSession(_ id: String) -> RequestProblem {
        missing("session", id, "GET /v1/sessions lists them")
    }

    private static func missing(_ kind: String, _ id: String, _ hint: String) -> RequestProblem {
        let id = PlainText.escape(id).quotedForMessage
        return RequestProblem(.notFound, code: "gateway.\(kind)-not-found", "there is no \(kind) \(id); \(hint)")
    }

    /// What a dialect could not understand, which names the member.
    init(_ error: DialectError) {
        let refusal = error.refusal
        let inputs = refusal?.field.map { [InputProblem(place: "body", name: $0, message: error.message)] } ?? []
        self.init(
            .badRequest, code: "gateway.\(refusal?.code ?? "invalid_request")", refusal?.message ?? error.message,
            inputs: inputs)
    }

    /// Why there is no answer, when a turn ended before it had said anything.
    init(_ failure: any Failure) {
        let param = failure.details["param"]?.string
        self.init(
            FailureStatus.status(of: failure), code: failure.code, failure.message,
            inputs: param.map { [InputProblem(place: "body", name: $0, message: failure.message)] } ?? [])
        headers["Retry-After"] = FailureStatus.retryAfter(failure).map(String.init)
        // The libraries of both vendors know it.
        if FailureStatus.isFinal(failure) { headers["x-should-retry"] = "false" }
    }

    /// Why a turn has no answer, with the word that the vendors' libraries know for what must not be sent again: a refused
    /// key stays refused, and tools that have been used would be used once more.
    init(_ failure: any Failure, of report: TurnReport) {
        self.init(failure)
        let isRefused = failure.exit == .denied || [401, 403].contains(failure.details["status"]?.int)
        if isRefused || report.hasUsedTools { headers["x-should-retry"] = "false" }
    }
}

extension TurnReport {
    /// Whether something was done that another try would do again.
    fileprivate var hasUsedTools: Bool {
        outcome.calls > 0 || outcome.messages.contains { $0.message.calls.contains(where: \.isDone) }
    }
}
