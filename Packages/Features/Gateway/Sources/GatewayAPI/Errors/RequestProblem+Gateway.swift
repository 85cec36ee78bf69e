import Capabilities
import HTTPCore
import HTTPServer
import JSON
import ModelKit

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
        self.init(FailureStatus.status(of: failure), code: failure.code, failure.message)
        headers["Retry-After"] = failure.details["retry_after"]?.int.map(String.init)
    }
}
