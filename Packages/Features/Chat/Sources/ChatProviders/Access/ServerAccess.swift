import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// How one server is reached: what all requests to it have in common.
struct ServerAccess: Sendable {
    /// The provider's id and what people call it.
    let id: String
    let name: String
    let client: HTTPClient
    let credential: Credential
    /// What mends a key that is not accepted.
    let remedy: String
    let redactor: Redactor
    let limits: AnswerLimits
    let clock: any Clock<Duration>
    let tracer: Tracer
    var headers: HTTPHeaders = [:]

    /// Sends a question and returns as soon as the head of the answer is there.
    ///
    /// - Parameter more: Header lines of this question.
    func ask(
        _ url: HTTPURL, _ body: JSONObject, streams: Bool, headers more: [String: String] = [:]
    ) async throws -> HTTPExchange {
        var request = HTTPRequest(.post, url, headers: headers)
        for (name, value) in more { request.headers[name] = value }
        request.headers["Content-Type"] = "application/json"
        request.headers["Accept"] = streams ? "text/event-stream, application/json" : "application/json"
        var bytes: [UInt8] = []
        JSON.object(body).write(into: &bytes)
        request.body = .bytes(bytes)
        request.limits = limits.http(streams: streams)
        // A conversation goes nowhere but to the server that was chosen, and it is decided here when to ask again.
        request.redirects = .none
        request.retry = .none
        return try await credential.open(request, with: client)
    }

    /// Sends a small thing once, such as the answer to a question.
    func post(_ url: HTTPURL, _ body: JSONObject, within limit: Duration = .seconds(15)) async throws -> HTTPResponse {
        var request = HTTPRequest(.post, url, headers: headers)
        request.headers["Content-Type"] = "application/json"
        request.headers["Accept"] = "application/json"
        request.body = .text(JSON.object(body).text())
        request.limits.total = limit
        request.limits.firstByte = limit
        request.limits.connect = min(request.limits.connect, limit)
        request.redirects = .none
        request.retry = .none
        return try await credential.send(request, with: client)
    }

    /// Asks for a small thing, such as a list.
    func get(_ url: HTTPURL, within limit: Duration = .seconds(15)) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, url, headers: headers)
        request.headers["Accept"] = "application/json"
        request.limits.total = limit
        request.limits.firstByte = limit
        request.limits.connect = min(request.limits.connect, limit)
        request.limits.body = 32 << 20
        // Somebody waits for the list, and for nothing to listen there needs no second look.
        request.retry = RetryPolicy(attempts: 2, base: .milliseconds(500))
        request.retry.kinds = [.reset, .cut]
        request.retry.longest = .seconds(2)
        return try await credential.send(request, with: client)
    }
}
