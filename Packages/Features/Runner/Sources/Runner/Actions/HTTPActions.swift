import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Registry

/// Sends HTTP requests for the steps of bundles.
struct HTTPActions {
    private let services: RunnerServices

    init(_ services: RunnerServices) {
        self.services = services
    }

    var all: [Action] { [request] }

    /// Counts as writing, even with GET: the URL can carry any data of a step, and sent data cannot be taken back.
    private var request: Action {
        Action(
            "http.request", "Send an HTTP request", .writes, taking: RequestArguments.self
        ) { context, given in
            var made = RequestBuilder(context, method: given.method?.http)
            try made.address(given.url, given.query)
            try made.headers(given.headers)
            try made.authorize(token: given.token, user: given.user, password: given.password)
            let source = try given.file.map(context.path)
            try made.body(data: given.data, form: given.form, text: given.body, hasFile: source != nil)
            var request = try made.request
            request.idempotencyKey = given.idempotencyKey
            request.redirects = given.staysHere ? .none : .follow
            (request.limits.firstByte, request.limits.idle) = (given.wait, given.wait)
            request.limits.connect = min(given.wait, request.limits.connect)
            request.retry = RetryPolicy(attempts: given.retries + 1)
            request.retry.statuses = request.retry.statuses.union([.internalServerError])
                .subtracting(given.expected.map(HTTPStatus.init))
            let exchange = RequestExchange(
                client: try await services.client.client(for: context), context: context, expected: Set(given.expected))
            let answer = try await exchange.answer(
                to: request, sending: source, writing: try given.target.map(context.path))
            if let note = answer.note { context.notice(note) }
            // In a bundle, the error of the step has the reason.
            if let reason = answer.reason, context.caller.isPerson { context.notice(reason) }
            return answer
        }
        .sending()
        .details(
            "The result has the status, the headers with lower-case names, and the body: as json if the response is "
                + "JSON, otherwise as text. Of a text over 64 KiB it has the beginning and the end. A body over 4 MiB, "
                + "or one that is not text, needs --to FILE; that file is replaced once the whole body has arrived. A "
                + "status of 400 or more fails the step; with --expect, every status that it does not list does.\n\n"
                + "Only credentials that you give are sent: with --token-env, --user and --password-env, a header, or a "
                + "bundle's env. A redirect to "
                + "another server does not get them. Requests are not signed and your client certificate is not sent. "
                + "--retries repeats the request after 408, 429, 500, 502, 503 and 504 and after a missing response, "
                + "if the method may be repeated or the request has an idempotency key. The proxies of the environment "
                + "are used.\n\n"
                + "A bundle must list the server in permissions.hosts, and any server that it redirects to. Addresses "
                + "of this machine, link-local addresses and the metadata service of a cloud must be listed explicitly."
        )
        .example("martlet http request https://example.com/health", "Check that a server responds")
        .example(
            "martlet http request https://api.example.com/v1/items --data '{\"name\":\"a\"}' --token-env API_TOKEN",
            "Send JSON with POST"
        )
        .example("martlet http request https://example.com/large.iso --to large.iso", "Save the response body")
    }
}

/// The arguments of `http.request`.
struct RequestArguments: ActionArguments {
    private(set) var url = HostValue("")
    private(set) var method: RequestMethod?
    private(set) var (headers, query, form): ([String: JSON], [String: JSON], [String: JSON]) = ([:], [:], [:])
    private(set) var data: JSON?
    private(set) var (body, user, idempotencyKey): (String?, String?, String?)
    private(set) var file: ReadPath?
    private(set) var (token, password): (Secret?, Secret?)
    private(set) var target: WritePath?
    private(set) var expected: [Int] = []
    private(set) var retries = 0
    private(set) var wait = Duration.zero
    private(set) var staysHere = false

    static let bindings = [
        bind(\.url, .argument("url", "The URL, starting with https:// or http://")),
        bind(\.method, .option("method", "HTTP method; default: POST with a body, otherwise GET", short: "X")),
        bind(\.headers, .option("header", "Headers, by name", short: "H")),
        bind(\.query, .option("query", "Query parameters, by name")),
        bind(\.data, .option("data", "JSON body")),
        bind(\.form, .option("form", "Form body (URL-encoded), by name")),
        bind(\.body, .option("body", "Text body")),
        bind(\.file, .option("file", "File to send as the body")),
        bind(\.token, .secret("token", "Token to send as Authorization: Bearer")),
        bind(\.user, .option("user", "User name to send as Authorization: Basic")),
        bind(\.password, .secret("password", "Password of that user")),
        bind(\.target, .option("to", "File to save the response body to")),
        bind(\.expected, .option("expect", "Statuses that count as success; default: all below 400")),
        bind(
            \.retries,
            .option(
                "retries", "Number of retries when the server is unreachable or fails", in: 0...10, default: 0
            )),
        bind(
            \.idempotencyKey,
            .option(
                "idempotency-key", "Key by which the server recognises a repeated request; allows retries of POST")),
        bind(\.wait, .option("wait", "Maximum time to wait for data from the server", default: Duration.seconds(120))),
        bind(\.staysHere, .flag("no-follow", "Return a redirect instead of following it")),
    ]

    init() {}
}

/// An HTTP method.
enum RequestMethod: String, Choice {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"

    var http: HTTPMethod { HTTPMethod(rawValue: rawValue) }
}

/// Builds a request from the arguments of an action, and rejects what must not be sent. Values with credential-like
/// names are registered with the redactor, so that they are masked if the server sends them back.
struct RequestBuilder {
    private let redactor: Redactor
    private var method: HTTPMethod?
    private var url: HTTPURL?
    private var headers: HTTPHeaders = [:]
    private var body = HTTPBody.none
    private var hasBody = false

    init(_ context: ActionContext, method: HTTPMethod?) {
        redactor = context.host.redactor
        self.method = method
    }

    var request: HTTPRequest {
        get throws {
            guard let url else { throw Self.refusal("the URL is missing") }
            guard method != .head || !hasBody else { throw Self.refusal("a HEAD request cannot have a body") }
            return HTTPRequest(method ?? (hasBody ? .post : .get), url, headers: headers, body: body)
        }
    }

    // MARK: URL

    mutating func address(_ given: HostValue, _ query: [String: JSON]) throws {
        let text = String(given.text.prefix { $0 != "#" })
        if let scheme = text.firstRange(of: "://"),
            text[scheme.upperBound...].prefix(while: { !"/?\\".contains($0) }).contains("@")
        {
            throw Self.refusal(
                "the URL contains a user name or password, which everyone who sees the URL can read; use token, user "
                    + "and password, or a header instead")
        }
        let fields = try fields(query, of: "query")
        let added = fields.isEmpty ? "" : (text.contains("?") ? "&" : "?") + Self.encoded(fields)
        url = try HTTPURL(text + added)
    }

    // MARK: Headers

    mutating func headers(_ given: [String: JSON]) throws {
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            let shown = PlainText.escape(String(name.prefix(40)))
            if Self.connection.contains(where: { HTTPHeaders.isSame($0, name) }) {
                throw Self.refusal("the header \(shown) is set automatically; remove it")
            }
            let texts = try Self.texts(value, "the header \(shown)")
            if texts.isEmpty { throw Self.refusal("the header \(shown) has no value") }
            for text in texts {
                headers.append(name, text)
                learn(text, of: name)
            }
        }
        try check()
    }

    mutating func authorize(token: Secret?, user: String?, password: Secret?) throws {
        guard token != nil || user != nil || password != nil else { return }
        guard token == nil || user == nil, (user == nil) == (password == nil) else {
            throw Self.refusal("give either token, or user and password")
        }
        guard headers["Authorization"] == nil else {
            throw Self.refusal("give either the header Authorization, or token or user and password")
        }
        token?.withText { headers.append("Authorization", "Bearer \($0)") }
        if let user, let password {
            guard !user.contains(":") else { throw Self.refusal("the user name cannot contain a colon") }
            redactor.learn(password)
            password.withText {
                headers.append("Authorization", "Basic \(Base64.encode(Array("\(user):\($0)".utf8)))")
            }
        }
        if let value = headers["Authorization"] { learn(value, of: "Authorization") }
        try check()
    }

    private func check() throws {
        guard let field = headers.firstInvalid else { return }
        throw Self.refusal(
            "the header \(PlainText.escape(String(field.name.prefix(40)))) contains an invalid character, such as a "
                + "line break")
    }

    /// Headers that control the connection. Host is one of them: it could select a server that is not permitted.
    private static let connection = [
        "Host", "Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE",
        "Trailer", "Transfer-Encoding", "Upgrade",
    ]

    // MARK: Body

    /// - Parameter hasFile: whether the body is a file.
    mutating func body(data: JSON?, form: [String: JSON], text: String?, hasFile: Bool) throws {
        let fields = try fields(form, of: "form")
        let count = [data != nil, !form.isEmpty, text != nil, hasFile].count(where: \.self)
        guard count < 2 else { throw Self.refusal("give only one of data, form, body and file") }
        hasBody = count > 0
        if let data {
            body = .text(try Self.json(data).text())
            setType("application/json")
        } else if !form.isEmpty {
            body = .text(Self.encoded(fields))
            setType("application/x-www-form-urlencoded")
        } else if let text {
            body = .text(text)
            setType("text/plain; charset=utf-8")
        }
    }

    /// Parses a text that begins like an object or a list, because a shell and `json()` give JSON as text.
    private static func json(_ data: JSON) throws -> JSON {
        guard let text = data.string, let first = text.first, "{[".contains(first) else { return data }
        do throws(JSONError) { return try JSON(parsing: text) } catch {
            throw refusal("data is not JSON (\(error.message)); for other text, use body and a Content-Type header")
        }
    }

    private mutating func setType(_ type: String) {
        if headers["Content-Type"] == nil { headers.append("Content-Type", type) }
    }

    // MARK: Fields

    /// Names with their values. A list gives one field per item, and null gives none.
    private func fields(_ given: [String: JSON], of parameter: String) throws -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            for text in try Self.texts(value, "\(parameter).\(PlainText.escape(name))") {
                fields.append((name, text))
                learn(text, of: name)
            }
        }
        return fields
    }

    private static func texts(_ value: JSON, _ place: String) throws -> [String] {
        switch value {
        case .null: return []
        case .array(let items): return try items.flatMap { try texts($0, place) }
        case .object: throw refusal("\(place) must be text, a number, true or false, not an object")
        case .string(let text): return [text]
        default: return [value.text()]
        }
    }

    private static func encoded(_ fields: [HTTPHeaders.Field]) -> String {
        fields.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    /// Words in names whose values are always credentials.
    private static let telling: Set<Substring> = [
        "accesstoken", "apikey", "authorization", "clientsecret", "cookie", "passphrase", "passwd", "password",
        "refreshtoken", "secret", "token",
    ]
    /// Words in names whose values are credentials only if they are long. A short value is often something else, such
    /// as an
    /// issue key.
    private static let vague: Set<Substring> = ["auth", "credential", "key", "session", "sig", "signature"]

    /// Registers a value with a credential-like name with the redactor, with and without its scheme.
    private func learn(_ value: String, of name: String) {
        let words = name.lowercased().split { "-_.".contains($0) }
        let isLong = value.utf8.count >= 16 && words != ["idempotency", "key"]
        guard words.contains(where: { Self.telling.contains($0) || isLong && Self.vague.contains($0) }) else { return }
        redactor.learn(Secret(value))
        if let space = value.firstIndex(of: " ") { redactor.learn(Secret(String(value[value.index(after: space)...]))) }
    }

    private static func refusal(_ reason: String) -> RunnerError { .options(reason) }
}
