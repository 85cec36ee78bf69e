import Capabilities
import HTTPClient
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

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

/// Readers cut a server's words to a length that a sentence can hold. A secret that the cut goes through could not be
/// recognised any more, so secrets are taken out before the words are read for an error.
extension ServerAccess {
    /// What a server sent, without secrets.
    func clean(_ body: [UInt8]) -> [UInt8] {
        guard let json = try? JSON(parsing: body, reading: .stream) else {
            // It is no JSON, which is no failure here: errors come in all forms.
            return Array(redactor.redact(String(decoding: body, as: UTF8.self)).utf8)
        }
        return Array(redactor.redact(json).text().utf8)
    }

    /// The same error as the event gives without its secrets.
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

    /// The same for an answer that came as a whole.
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
    /// Asks for texts as vectors, once.
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
            // It is no answer either way.
        }
        throw ChatError(.badAnswer, "\(name) sent what is no list of embeddings", provider: id)
    }
}

extension ServerAccess {
    /// Asks for a list; every status but success is an error in plain words.
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

    /// What a status that is no success means.
    func refused(_ response: HTTPResponse) -> ChatError {
        let wait = HTTPError(status: response.status, headers: response.headers, body: [], server: "").retryAfter
        // All envelopes of errors are understood by this one.
        let refusal = OpenAIDialect(.compatible).refusal(in: clean(response.body))
        return ChatError(refusal, status: response.status.code, retryAfter: wait, model: "", from: self)
    }

    /// What a reader of a body throws, in the words of this module.
    func reading<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch let error as DialectError {
            throw ChatError(error, model: "", from: self)
        }
    }
}

extension HTTPURL {
    /// With another pair in the query.
    func adding(_ name: String, _ value: String) throws(HTTPError) -> HTTPURL {
        var pair = "\(name)="
        for byte in value.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: pair.unicodeScalars.append(Unicode.Scalar(byte))
            default: pair += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return try resolving("?" + (query.map { "\($0)&" } ?? "") + pair)
    }
}

extension HTTPURL {
    /// The address of something below this one, whose own path is kept.
    func below(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving(Self.trimmed(self.path) + path)
    }

    /// The base of an API that is known to be at `/v1`, which some people write and others leave out.
    func versioned() throws(HTTPError) -> HTTPURL {
        let path = Self.trimmed(self.path)
        return path.hasSuffix("/v1") ? try resolving(path) : try resolving(path + "/v1")
    }

    /// The same for a server of which less is known: only an address without any path is completed.
    func versionedIfBare() throws(HTTPError) -> HTTPURL {
        path == "/" ? try resolving("/v1") : try resolving(Self.trimmed(path))
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}
