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

/// The body of every answer that is no success. Clients of OpenAI's API, of Anthropic's and of gateways all find in it
/// what they look for, so that a refusal from before the route is known fits as well as one from the route.
struct ErrorBody: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorBody>] = [
        Field("type", "Always error") { _ in "error" },
        Field("error", "What went wrong") { ErrorFacts(report: $0.report) },
        Field("request_id", "Names the request in traces") { $0.report.requestID },
    ]
}

/// What went wrong, under the names of both APIs.
struct ErrorFacts: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorFacts>] = [
        Field("message", "What happened and what to do next") { $0.report.message },
        Field("type", "The kind, in Anthropic's words") { type(status: $0.report.status.code) },
        Field("param", "The member of the request that it is about") { $0.param },
        Field("code", "The stable reason") { WireCode.text(of: $0.report.code) },
        Field("status", "The status of the answer") { $0.report.status.code },
        Field("details", "Every value that is wrong, where there are several; or what Anthropic's clients look for") {
            $0.details
        },
    ]

    /// The kind of an error with that status.
    static func type(status: Int) -> String { AnthropicDialect.errorType(status: status) }

    private var details: JSON? {
        let code = WireCode.text(of: report.code)
        // By this a client of Anthropic's knows to go on with whole conversations.
        if code == "thread_unsupported_request" { return ["error_code": .string(code), "unsupported": ["thread"]] }
        return report.inputs.count > 1 ? .array(report.inputs.map { WrongInput(problem: $0).json }) : nil
    }

    private var param: String? {
        if let name = report.inputs.first?.name { return name.isEmpty ? nil : name }
        return report.details["param"]?.string
    }
}

/// One value that is not as it was declared.
struct WrongInput: Record {
    let problem: InputProblem

    static let fields: [Field<WrongInput>] = [
        Field("place", "path, query, header or body") { $0.problem.place },
        Field("name", "Its name") { $0.problem.name },
        Field("message", "What is wrong with it") { $0.problem.message },
    ]
}

/// How the reason of a failure is written for clients: `gateway.session-busy` as `session_busy`.
enum WireCode {
    /// Where clients of such APIs know another word.
    private static let known = [
        "server.inputs": "validation_error", "server.json": "invalid_json", "server.unauthorized": "invalid_api_key",
        "server.internal": "internal_error", "server.host": "unknown_host", "server.origin": "origin_not_allowed",
        "server.method": "method_not_allowed", "server.type": "unsupported_media_type",
        "server.malformed": "malformed_request", "storage.full": "storage_full",
        "chat.too-long": "context_length_exceeded",
    ]

    static func text(of code: String) -> String {
        if let word = known[code] { return word }
        let last = code.split(separator: ".").last.map(String.init) ?? code
        return last.replacing("-", with: "_")
    }
}

/// The status that tells of a failure.
enum FailureStatus {
    /// Nil where the usual one of its exit code is right.
    static func known(_ failure: any Failure) -> HTTPStatus? {
        switch failure {
        case let error as GatewayError: HTTPStatus(error.status)
        case let error as GatewayStoreError: status(of: error.kind)
        case let error as WorkspaceError: status(of: error.kind)
        case is AccessFailure: .forbidden
        default: failure.code == "storage.full" ? .insufficientStorage : nil
        }
    }

    /// Of a turn that failed. What a provider says of us, such as that our key is wrong, is not the client's fault.
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

    /// What a provider meant that failed in the midst of its answer, where there is no status.
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

    /// Whether the same request will fail again, so that a client should not repeat it although the status says that it may.
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

    /// After how many seconds the same request may be answered, where somebody has said so.
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
    /// RFC 4918: what has to be stored does not fit.
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
