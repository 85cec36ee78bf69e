import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

/// What all requests to one server have in common.
struct ServerAccess: Sendable {
    /// The provider's id, and its name for users.
    let id: String
    let name: String
    let client: HTTPClient
    /// Adds the credential; nil for a server that gets none.
    let signer: RequestSigner?
    /// The remedy for a rejected key.
    let remedy: String
    let redactor: Redactor
    let limits: AnswerLimits
    let clock: any Clock<Duration>
    let tracer: Tracer
    var headers: HTTPHeaders = [:]

    /// Sends a question and returns when the head of the response has arrived.
    ///
    /// - Parameter more: additional headers of this question.
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
        // A conversation is only sent to the chosen server, and retries are decided by `Recovery`.
        request.redirects = .none
        request.retry = .none
        return try await open(request)
    }

    /// Requests something small, such as a list.
    func get(_ url: HTTPURL, within limit: Duration = .seconds(15)) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, url, headers: headers)
        request.headers["Accept"] = "application/json"
        request.limits.total = limit
        request.limits.firstByte = limit
        request.limits.connect = min(request.limits.connect, limit)
        request.limits.body = 32 << 20
        // The user waits for the list, and a refused connection needs no retry.
        request.retry = RetryPolicy(attempts: 2, base: .milliseconds(500))
        request.retry.kinds = [.reset, .cut]
        request.retry.longest = .seconds(2)
        return try await send(request)
    }
}

extension ServerAccess {
    /// Sends a request with the server's credential.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let signer else { return try await client.send(request) }
        do {
            return try await client.send(request, signedBy: signer)
        } catch let error as EnvironmentKeyError {
            throw ChatError(error, provider: id)
        }
    }

    private func open(_ request: HTTPRequest) async throws -> HTTPExchange {
        guard let signer else { return try await client.open(request) }
        do {
            return try await client.open(request, signedBy: signer)
        } catch let error as EnvironmentKeyError {
            throw ChatError(error, provider: id)
        }
    }
}

/// Readers shorten a server's message for a sentence. A secret that was cut could not be recognised any more, so
/// secrets are removed before the message is read.
extension ServerAccess {
    /// The server's body without secrets.
    func clean(_ body: [UInt8]) -> [UInt8] {
        guard let json = try? JSON(parsing: body, reading: .stream) else {
            // Errors come in all forms, so this may be something other than JSON.
            return Array(redactor.redact(String(decoding: body, as: UTF8.self)).utf8)
        }
        return Array(redactor.redact(json).text().utf8)
    }

    /// The same error, read from an event without its secrets.
    func clean(_ error: DialectError, _ name: String, _ data: [UInt8], _ dialect: some Dialect) -> DialectError {
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        do throws(DialectError) {
            try reader.receive(name, clean(data), into: &events)
        } catch let clean {
            return clean
        }
        return error
    }

    /// The same for a whole answer.
    func clean(_ error: DialectError, _ body: [UInt8], _ dialect: some Dialect) -> DialectError {
        var events: [ChatEvent] = []
        do throws(DialectError) {
            _ = try dialect.answer(in: clean(body), into: &events)
        } catch let clean {
            return clean
        }
        return error
    }
}

extension ServerAccess {
    /// Requests embeddings, once.
    func embeddings(_ body: JSONObject, at url: HTTPURL) async throws -> JSONObject {
        let model = body["model"]?.string ?? ""
        let exchange: HTTPExchange
        let bytes: [UInt8]
        do {
            exchange = try await ask(url, body, streams: false)
            bytes = try await exchange.collect(limit: AnswerLimits.largestWhole)
        } catch let error as HTTPError {
            throw ChatError(error, hasBegun: false, from: self) ?? error
        }
        guard exchange.status.isSuccess else {
            let wait = HTTPError(status: exchange.status, headers: exchange.headers, body: [], server: "").retryAfter
            let refusal = OpenAIDialect(.compatible).refusal(in: clean(bytes))
            throw ChatError(refusal, status: exchange.status.code, retryAfter: wait, model: model, from: self)
        }
        do {
            if let answer = try JSON(parsing: bytes, reading: .stream).object, answer["data"]?.array != nil {
                return answer
            }
        } catch {
            // It is not a valid answer either way.
        }
        throw ChatError(.badAnswer, "unexpected response from \(name): not a list of embeddings", provider: id)
    }
}

extension ServerAccess {
    /// Requests a list. Every status but success is an error.
    func list(_ url: HTTPURL) async throws -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try await get(url)
        } catch let error as HTTPError {
            throw ChatError(error, hasBegun: false, from: self) ?? error
        }
        guard response.status.isSuccess else { throw refused(response) }
        return response
    }

    /// Asks the client of a gateway, and converts its errors.
    func asking<Result: Sendable>(_ ask: () async throws -> Result) async throws -> Result {
        do {
            return try await ask()
        } catch let error as RemoteGatewayError {
            throw ChatError(error, from: self)
        } catch let error as HTTPError {
            throw ChatError(error, hasBegun: false, from: self) ?? error
        } catch let error as EnvironmentKeyError {
            throw ChatError(error, provider: id)
        }
    }

    /// The error for an unsuccessful status.
    func refused(_ response: HTTPResponse) -> ChatError {
        let wait = HTTPError(status: response.status, headers: response.headers, body: [], server: "").retryAfter
        // This dialect reads all kinds of error bodies.
        let refusal = OpenAIDialect(.compatible).refusal(in: clean(response.body))
        return ChatError(refusal, status: response.status.code, retryAfter: wait, model: "", from: self)
    }

    /// Converts the errors of a body reader.
    func reading<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch let error as DialectError {
            throw ChatError(error, model: "", from: self)
        }
    }
}
