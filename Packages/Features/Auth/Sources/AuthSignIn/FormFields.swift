import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// The names and values of a query or a form body (`application/x-www-form-urlencoded`).
struct FormFields: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var fields: [(name: String, value: String)] = []

    init() {}

    init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// Parses a query or a body. Nil when an escape is malformed or the bytes are not valid UTF-8.
    init?(parsing text: String) {
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(pair[0], plusIsSpace: true),
                let value = pair.count == 2 ? PercentEncoding.decode(pair[1], plusIsSpace: true) : ""
            else { return nil }
            append(name, value)
        }
    }

    mutating func append(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    /// All values of a name, in order.
    func all(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// The first non-empty value of a name.
    subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The names that occur more than once.
    var repeated: Set<String> {
        var seen: Set<String> = []
        return Set(fields.map(\.name).filter { !seen.insert($0).inserted })
    }

    /// The encoded form. Every character except letters, digits and `-._~` is escaped, so the form fits both queries
    /// and bodies.
    var text: String {
        fields.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

extension HTTPClient {
    /// Posts a form once. Redirects are not followed, because the form is only for this server.
    func post(_ fields: FormFields, to url: HTTPURL, _ more: HTTPHeaders = [:]) async throws -> HTTPResponse {
        var headers = more
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        headers["Accept"] = "application/json"
        var request = HTTPRequest(.post, url, headers: headers, body: .text(fields.text))
        request.redirects = .none
        return try await answer(to: request)
    }

    /// Sends a request without retries, and converts network failures to `SignInError`.
    func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.retry = .none
        request.limits.total = .seconds(30)
        request.limits.body = 1 << 20
        do {
            return try await send(request)
        } catch let error as HTTPError where error.kind != .certificate && error.kind != .notPermitted {
            // Certificate errors pass through, because the code that manages trust handles exactly that error. What the
            // caller may not reach does not become reachable by trying again.
            let isAnswer = [.tooLarge, .headTooLarge, .badAnswer].contains(error.kind)
            throw SignInError(isAnswer ? .badAnswer : .unreachable, error.message, cause: error)
        }
    }
}

extension HTTPResponse {
    /// The body as a JSON object.
    func jsonObject() throws(SignInError) -> JSON {
        // The parser's error is dropped, because it may quote a token from the body.
        guard let json = try? JSON(parsing: body, reading: .stream), json.object != nil else {
            throw SignInError(
                .badAnswer, "\(url.server) answered \(status) without a JSON object; check the address"
            )
        }
        return json
    }
}
