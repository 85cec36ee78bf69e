import Capabilities
import HTTPClient
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

/// An answer that is no success: whether the server lacks the route, and otherwise the error.
struct GatewayRefusal {
    private let response: HTTPResponse
    private let call: GatewayCall
    private let gateway: RemoteGateway
    /// The body, if it is an object.
    private let body: JSONObject?
    private let refusal: ServerRefusal?

    init(_ response: HTTPResponse, to call: GatewayCall, of gateway: RemoteGateway) {
        self.response = response
        self.call = call
        self.gateway = gateway
        // Errors come in all forms, so this may be something other than JSON. Secrets are removed before a message is
        // shortened, because half a secret could not be recognised any more.
        let json = try? JSON(parsing: response.body, reading: .stream)
        let clean = json.map { gateway.redactor.redact($0) }
        body = clean?.object
        let text = clean?.text() ?? gateway.redactor.redact(response.text)
        // This dialect reads all kinds of errors.
        refusal = OpenAIDialect(.compatible).refusal(in: Array(text.utf8))
    }

    private var status: Int { response.status.code }
    private var code: String { refusal?.code ?? "" }

    /// Whether the server has no such route. A thing that does not exist has its own error code or other words.
    var isMissingRoute: Bool {
        switch status {
        case 405, 501: return true
        case 404:
            guard let body else { return false }
            // Of the framework that such gateways are made with, and of our own.
            if body["error"] == nil, body["detail"]?.string == "Not Found" { return true }
            return call.isShadowed || code == "route_not_found"
        default: return false
        }
    }

    /// The error. Asked only if the route is not missing.
    var error: any Error {
        if response.status.isRedirect { return redirection }
        if let known = knownError { return known }
        let name = gateway.name
        let words =
            refusal.flatMap { $0.message.isEmpty ? nil : ": \(Self.trimmed($0.message))" } ?? " (status \(status))"
        switch status {
        case 401: return failure(.keyRefused, "\(name) rejected the key, or received none\(words); \(gateway.remedy)")
        case 403: return failure(.forbidden, "\(name) does not allow this key to do that\(words); request access")
        case 404:
            return failure(
                .badAnswer, "\(name) has nothing at \(call.path)\(words); check that its address leads to a gateway")
        case 429: return rateLimited(words)
        case 408, 504: return failure(.timedOut, "\(name) timed out\(words); try again later")
        case 502, 503, 529:
            let advice = retryAfter.map { "try again in \($0.words)" } ?? "try again later"
            return failure(.notReady, "\(name) is not ready\(words); \(advice)")
        case 500...: return failure(.serverFailed, "\(name) had an internal error\(words); try again later")
        default: return failure(.refused, "\(name) refused the request\(words)")
        }
    }

    /// What callers react to.
    private var knownError: AgentServerError? {
        let subject = AgentSubject(errorCode: code) ?? call.subject
        guard let subject else { return nil }
        let isNamed = subject == call.subject
        let id = isNamed ? call.id : ""
        switch status {
        case 404:
            return body == nil
                ? nil : .notFound(subject, id, at: gateway.server, told: isNamed ? nil : refusal?.message)
        case 409 where code != "changed": return .busy(subject, id, at: gateway.server)
        case 409, 412: return .changed(subject, id, at: gateway.server)
        default: return nil
        }
    }

    private var redirection: RemoteGatewayError {
        let place: String
        do throws(HTTPError) {
            let next = try response.url.resolving(response.headers["Location"] ?? "")
            place = "\(next.scheme.rawValue)://\(next.server)"
        } catch {
            place = "an invalid address"
        }
        return failure(
            .redirected,
            "\(gateway.name) redirects the request to \(PlainText.escape(place)), and redirects are not followed; if that "
                + "is the right server, use its address")
    }

    private func rateLimited(_ words: String) -> RemoteGatewayError {
        // Such gateways refuse every request until a minute has passed without one, and do not say so.
        let wait = retryAfter ?? .seconds(60)
        var error = failure(
            .rateLimited, "\(gateway.name) received too many requests\(words); try again in \(wait.words)")
        error.retryAfter = wait
        return error
    }

    private func failure(_ kind: RemoteGatewayError.Kind, _ message: String) -> RemoteGatewayError {
        RemoteGatewayError(kind, message, status: status, retryAfter: retryAfter, refusal: refusal)
    }

    /// The wait time of the server. HTTPKit knows both forms of `Retry-After`.
    private var retryAfter: Duration? {
        HTTPError(status: response.status, headers: response.headers, body: [], server: "").retryAfter
    }

    /// Without the final stop, because it becomes a part of our sentence.
    private static func trimmed(_ words: String) -> String {
        var words = words[...]
        while words.hasSuffix(".") || words.hasSuffix(" ") { words = words.dropLast() }
        return String(words)
    }
}
