import AnthropicDialect
import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import ToolKit
import TurnLoop

/// The body of every error response. It has the members that clients of OpenAI's API, of Anthropic's and of gateways
/// expect, so that it fits even before the route is known.
struct ErrorBody: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorBody>] = [
        Field("type", "Always error") { _ in "error" },
        Field("error", "What went wrong") { ErrorFacts(report: $0.report) },
        Field("request_id", "Id of the request in traces") { $0.report.requestID },
    ]
}

/// The details of an error, under the names of both APIs.
struct ErrorFacts: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorFacts>] = [
        Field("message", "What happened and what to do next") { $0.report.message },
        Field("type", "Kind of error, as Anthropic names it") { type(status: $0.report.status.code) },
        Field("param", "Member of the request that is wrong") { $0.param },
        Field("code", "Stable error code") { WireCode.text(of: $0.report.code) },
        Field("status", "HTTP status of the response") { $0.report.status.code },
        Field("details", "Every wrong value, if there are several; or details for Anthropic's clients") {
            $0.details
        },
    ]

    /// The kind of error for a status.
    static func type(status: Int) -> String { AnthropicDialect.errorType(status: status) }

    private var details: JSON? {
        let code = WireCode.text(of: report.code)
        // Tells a client of Anthropic's to continue with whole conversations.
        if code == "thread_unsupported_request" { return ["error_code": .string(code), "unsupported": ["thread"]] }
        return report.inputs.count > 1 ? .array(report.inputs.map { WrongInput(problem: $0).json }) : nil
    }

    private var param: String? {
        if let name = report.inputs.first?.name { return name.isEmpty ? nil : name }
        return report.details["param"]?.string
    }
}

/// One invalid value.
struct WrongInput: Record {
    let problem: InputProblem

    static let fields: [Field<WrongInput>] = [
        Field("place", "Where it is: path, query, header or body") { $0.problem.place },
        Field("name", "Name of the value") { $0.problem.name },
        Field("message", "What is wrong with it") { $0.problem.message },
    ]
}

/// Converts error codes for clients: `gateway.session-busy` becomes `session_busy`.
enum WireCode {
    /// Codes for which clients of these APIs know another word.
    private static let known = [
        "server.inputs": "validation_error", "server.json": "invalid_json", "server.unauthorized": "invalid_api_key",
        "server.internal": "internal_error", "server.host": "unknown_host", "server.origin": "origin_not_allowed",
        "server.method": "method_not_allowed", "server.type": "unsupported_media_type",
        // Other than a missing session or file, so that clients can tell that this server does not have the route.
        "server.malformed": "malformed_request", "server.not-found": "route_not_found", "storage.full": "storage_full",
        "chat.too-long": "context_length_exceeded",
    ]

    static func text(of code: String) -> String {
        if let word = known[code] { return word }
        let last = code.split(separator: ".").last.map(String.init) ?? code
        return last.replacing("-", with: "_")
    }
}

/// The HTTP status for a failure.
enum FailureStatus {
    /// Nil when the default status for its exit code is right.
    static func known(_ failure: any Failure) -> HTTPStatus? {
        switch failure {
        case let error as GatewayError: HTTPStatus(error.status)
        case let error as GatewayStoreError: status(of: error.kind)
        case let error as WorkspaceError: status(of: error.kind)
        case is AccessFailure: .forbidden
        default: failure.code == "storage.full" ? .insufficientStorage : nil
        }
    }

    /// The status for a failed turn. A provider's complaint about the gateway, such as a wrong key, is not the client's
    /// fault.
    static func status(of failure: any Failure) -> HTTPStatus {
        if let known = known(failure) { return known }
        let told = failure.details["status"]?.int
        if failure.code.hasPrefix("gateway."), let told { return HTTPStatus(told) }
        switch told {
        case 400, 404, 413, 422, 429, 503, 529: return HTTPStatus(told ?? 400)
        case 408, 504: return .gatewayTimeout
        case .some: return .badGateway
        case nil: break
        }
        if let status = meant(by: failure.code) { return status }
        return switch failure.exit {
        case .usage: .badRequest
        case .interrupted: .serviceUnavailable
        default: .badGateway
        }
    }

    /// The status for a provider that failed in the middle of its answer, where it sent no status.
    private static func meant(by code: String) -> HTTPStatus? {
        switch code {
        case "chat.rate-limited": .tooManyRequests
        case "chat.not-ready": .serviceUnavailable
        case "chat.timed-out": .gatewayTimeout
        case "chat.too-long", "chat.content-refused", "chat.invalid-request": .badRequest
        case "chat.model-not-found": .notFound
        default: nil
        }
    }

    /// Whether the same request will fail again, so that a client should not retry although the status allows it.
    static func isFinal(_ failure: any Failure) -> Bool {
        switch failure.code {
        case "gateway.budget-exceeded", "gateway.round-limit", "gateway.output-limit", "gateway.cost-limit":
            return retryAfter(failure) == nil
        case "chat.key-refused", "chat.forbidden", "chat.no-credit", "chat.no-key", "chat.redirected",
            "chat.bad-address", "chat.too-large":
            return true
        default: return [401, 402, 403].contains(failure.details["status"]?.int)
        }
    }

    /// The number of seconds after which to retry, if known.
    static func retryAfter(_ failure: any Failure) -> Int? {
        let told = failure.details["retry_after"]?.double ?? failure.details["retryAfterSeconds"]?.double
        guard let told, 0...1e9 ~= told else { return nil }
        return Int(told.rounded(.up))
    }

    private static func status(of kind: GatewayStoreError.Kind) -> HTTPStatus {
        switch kind {
        case .notFound: .notFound
        case .busy, .leaseLost: .conflict
        case .invalid: .badRequest
        default: .internalServerError
        }
    }

    private static func status(of kind: WorkspaceError.Kind) -> HTTPStatus {
        switch kind {
        case .notFound: .notFound
        case .gone, .changed: .conflict
        case .denied: .forbidden
        case .outside, .input, .pattern, .notFile, .notFolder: .badRequest
        default: .internalServerError
        }
    }
}

extension HTTPStatus {
    /// RFC 4918: there is no space left to store the request's data.
    static let insufficientStorage = HTTPStatus(507)
}

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

    /// A request that a dialect could not read; names the member.
    init(_ error: DialectError) {
        let refusal = error.refusal
        let inputs = refusal?.field.map { [InputProblem(place: "body", name: $0, message: error.message)] } ?? []
        self.init(
            .badRequest, code: "gateway.\(refusal?.code ?? "invalid_request")", refusal?.message ?? error.message,
            inputs: inputs)
    }

    /// Reports a turn that failed before it produced any output.
    init(_ failure: any Failure) {
        let param = failure.details["param"]?.string
        self.init(
            FailureStatus.status(of: failure), code: failure.code, failure.message,
            inputs: param.map { [InputProblem(place: "body", name: $0, message: failure.message)] } ?? [])
        headers["Retry-After"] = FailureStatus.retryAfter(failure).map(String.init)
        // Both vendors' libraries know this header.
        if FailureStatus.isFinal(failure) { headers["x-should-retry"] = "false" }
    }

    /// Reports a turn that failed, with the header by which the vendors' libraries do not retry: a refused key stays
    /// refused, and a retry would run its tools again.
    init(_ failure: any Failure, of report: TurnReport) {
        self.init(failure)
        let isRefused = failure.exit == .denied || [401, 403].contains(failure.details["status"]?.int)
        if isRefused || report.hasUsedTools { headers["x-should-retry"] = "false" }
    }
}

extension TurnReport {
    /// Whether the turn ran tools that a retry would run again.
    fileprivate var hasUsedTools: Bool {
        outcome.calls > 0 || outcome.messages.contains { $0.message.calls.contains(where: \.isDone) }
    }
}
