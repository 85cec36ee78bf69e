import Capabilities
import FileKit
import HTTPClient
import HTTPCore
import JSON
import LoopKit
import Registry
import SandboxKit

/// Sends the request of an action. The response body goes into memory, up to a limit, or into a file.
struct RequestExchange {
    let client: HTTPClient
    let context: ActionContext
    /// Statuses that count as success; empty means all below 400.
    let expected: Set<Int>

    /// The largest body that is kept in memory.
    static let limit = 4 << 20

    /// - Parameters:
    ///   - file: the file to send as the body.
    ///   - target: the file to save the response body to.
    func answer(
        to request: HTTPRequest, sending file: GrantedPath?, writing target: GrantedPath?
    ) async throws -> HTTPAnswer {
        var request = request
        let start = ContinuousClock.now
        var answer: HTTPAnswer
        if let file {
            let open = try file.open()
            // By its descriptor, so that it is the file that was granted. Each attempt opens it again.
            request.body = .file(path: "/proc/self/fd/\(open.rawValue)", naming: PlainText.escape(file.absolute))
            answer = try await self.answer(to: request, writing: target)
            try open.close()
        } else {
            answer = try await self.answer(to: request, writing: target)
        }
        answer.took = .now - start
        return answer
    }

    private func answer(to request: HTTPRequest, writing target: GrantedPath?) async throws -> HTTPAnswer {
        guard let target else { return try await read(try await client.open(request), request) }
        var request = request
        // The body goes to the file in large pieces, and the file gets exactly what the server has.
        request.limits.buffer = 512 << 10
        request.acceptsCompressed = false
        let executor = try OwnThreadExecutor()
        defer { executor.end() }
        // A disk can block for seconds.
        return try await withTaskExecutorPreference(executor) { [request] in
            // Before sending: a response that cannot be saved must not be requested.
            let file = try target.replacement()
            let exchange = try await client.open(request)
            let isWanted = isWell(exchange.status) && exchange.status.isSuccess
            guard isWanted, request.method != .head, ![204, 205].contains(exchange.status.code) else {
                return try await read(exchange, request)
            }
            var count = 0
            for try await bytes in exchange.body {
                try file.write(bytes.span)
                count += bytes.count
            }
            try file.commit()
            var answer = head(of: exchange, request)
            (answer.size, answer.file) = (count, target.absolute)
            return answer
        }
    }

    private func isWell(_ status: HTTPStatus) -> Bool {
        expected.isEmpty ? status.code < 400 : expected.contains(status.code)
    }

    private func head(of exchange: HTTPExchange, _ request: HTTPRequest) -> HTTPAnswer {
        var answer = HTTPAnswer(
            url: context.host.redactor.redact(exchange.url.text), method: request.method, status: exchange.status)
        answer.attempts = exchange.attempts
        for (name, value) in exchange.headers {
            let name = name.lowercased()
            let separator = name == "set-cookie" ? "\n" : ", "
            answer.headers[name] = answer.headers[name].map { $0 + separator + value } ?? value
        }
        AnswerSecrets(context.host.redactor).learn(from: exchange.headers)
        return answer
    }

    // MARK: The body in memory

    private func read(_ exchange: HTTPExchange, _ request: HTTPRequest) async throws -> HTTPAnswer {
        var answer = head(of: exchange, request)
        var bytes: [UInt8] = []
        var isWhole = true
        do {
            for try await piece in exchange.body {
                bytes += piece.prefix(Self.limit + 1 - bytes.count)
                guard bytes.count <= Self.limit else {
                    exchange.cancel()
                    isWhole = false
                    break
                }
            }
        } catch let error as HTTPError where !isWell(exchange.status) {
            // The status is what matters; the text of the error may be missing.
            answer.note = error.message
        }
        if isWhole { answer.size = request.method == .head ? nil : bytes.count }
        if !isWhole { answer.size = exchange.headers["Content-Length"].flatMap { Int($0) } }
        let type = exchange.headers["Content-Type"]?.lowercased().prefix { $0 != ";" }.trimmingSpaces ?? ""
        let isJSON = type == "application/json" || type == "text/json" || type.hasSuffix("+json")
        let problem = isWhole ? fill(&answer, bytes, type: type, isJSON: isJSON) : Self.tooLarge
        if !isWell(exchange.status) {
            answer.reason = refusal(exchange, bytes, answer.text)
        } else if let problem {
            // A caller who gets JSON needs its content, so a bad body is a failure. Other bodies can be left out.
            if isJSON { answer.reason = "\(exchange.url.server) answered \(exchange.status), but \(problem)" }
            if !isJSON { answer.note = problem }
        }
        return answer
    }

    private static let tooLarge =
        "the response is larger than \(ByteCount(limit).words) and not in the result; use --to FILE to save it"

    /// Puts the body into the answer. Returns what prevented that, or nil.
    private func fill(_ answer: inout HTTPAnswer, _ bytes: [UInt8], type: some StringProtocol, isJSON: Bool) -> String?
    {
        if bytes.isEmpty { return nil }
        var problem: String?
        if isJSON {
            do throws(JSONError) {
                let json = try JSON(parsing: bytes)
                AnswerSecrets(context.host.redactor).learn(from: json)
                answer.json = json
                return nil
            } catch {
                problem = "its body is not valid JSON: \(error.message)"
            }
        }
        guard type.hasPrefix("text/") || String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
            return problem ?? "the response is not text and not in the result; use --to FILE to save it"
        }
        var excerpt = OutputExcerpt()
        excerpt.add(bytes)
        answer.text = excerpt.text
        return problem
    }

    /// Why a status counts as a failure, with the message of the server.
    private func refusal(_ exchange: HTTPExchange, _ body: [UInt8], _ text: String?) -> String {
        let plain = "\(exchange.url.server) answered \(exchange.status)"
        var reason = plain
        if !exchange.status.isSuccess, !exchange.status.isRedirect {
            let error = HTTPError(
                status: exchange.status, headers: exchange.headers, body: body, server: exchange.url.server)
            reason = error.message
        }
        if reason == plain, let text {
            let words = text.prefix(2000).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !words.isEmpty { reason += ": \(PlainText.escape(String(words.prefix(200))))" }
        }
        if expected.isEmpty { return reason }
        return "\(reason); expected \(expected.sorted().map(String.init).joined(separator: " or "))"
    }
}

/// Secrets in a response: session cookies and tokens, which a later step sends back. Only a few are taken from one
/// response, so that a server cannot make the redactor forget other secrets.
private struct AnswerSecrets {
    private static let most = 16
    private static let least = 16
    private static let names: Set<String> = [
        "access_token", "accesstoken", "api_key", "apikey", "client_secret", "id_token", "password", "refresh_token",
        "secret", "session_token", "token",
    ]

    private let redactor: Redactor

    init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    func learn(from headers: HTTPHeaders) {
        for cookie in headers.all("Set-Cookie").prefix(Self.most) {
            let pair = cookie.prefix { $0 != ";" }
            guard let mark = pair.firstIndex(of: "=") else { continue }
            learn(String(pair[pair.index(after: mark)...]))
        }
    }

    func learn(from body: JSON) {
        var left = Self.most
        for (_, member) in body.object ?? [:] where member.object != nil { learn(from: member.object ?? [:], &left) }
        learn(from: body.object ?? [:], &left)
    }

    private func learn(from members: JSONObject, _ left: inout Int) {
        for (name, value) in members where left > 0 && Self.names.contains(name.lowercased()) {
            guard let text = value.string else { continue }
            learn(text)
            left -= 1
        }
    }

    private func learn(_ text: String) {
        if text.utf8.count >= Self.least { redactor.learn(Secret(text)) }
    }
}

/// The response of a server.
struct HTTPAnswer: Record {
    let url: String
    let method: HTTPMethod
    let status: HTTPStatus
    var headers: [String: String] = [:]
    var json: JSON?
    var text: String?
    var size: Int?
    var file: String?
    var attempts = 1
    var took = Duration.zero
    /// What is missing here, and how to get it.
    var note: String?
    /// Why it counts as a failure.
    var reason: String?

    init(url: String, method: HTTPMethod, status: HTTPStatus) {
        (self.url, self.method, self.status) = (url, method, status)
    }

    private enum State: String, Choice { case done, failed }

    var exit: ExitCode { reason == nil ? .done : .toolFailed }

    static let fields: [Field<HTTPAnswer>] = [
        Field("url", "URL of the response", .name) { $0.url },
        Field("method", "HTTP method") { $0.method.rawValue },
        Field("state", "Whether the request succeeded", .state) { $0.reason == nil ? State.done : .failed },
        Field("status", "HTTP status") { $0.status.code },
        Field("status_text", "Text of the status") { $0.status.reason.isEmpty ? nil : $0.status.reason },
        Field("headers", "Response headers, with lower-case names", .detail) { $0.headers },
        Field("json", "Body, if it is JSON", .detail) { $0.json },
        Field("text", "Body, if it is other text; only the beginning and the end of a long one", .detail) {
            $0.text
        },
        Field("size", "Size of the body") { $0.size.map { ByteCount($0) } },
        Field("file", "File with the body") { $0.file },
        Field("attempts", "Number of attempts", .detail) { $0.attempts },
        Field("duration", "How long it took") { $0.took },
        Field("note", "What is missing here, and how to get it", .detail) { $0.note },
        Field("reason", "Why it counts as a failure", .detail) { $0.reason },
    ]
}
