import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import JSON
import Registry

/// Requests of the person's own, for the steps of bundles.
struct HTTPActions {
    private let services: RunnerServices

    init(_ services: RunnerServices) {
        self.services = services
    }

    var all: [Action] { [request] }

    /// Counts as what writes, a GET too: an address carries whatever a step puts into it, and what has been sent is with
    /// somebody else.
    private var request: Action {
        Action(
            "http.request", "Send a request to a server", .writes, taking: RequestArguments.self
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
            // A bundle is told by the error of its step.
            if let reason = answer.reason, context.caller.isPerson { context.notice(reason) }
            return answer
        }
        .sending()
        .details(
            "The result has the status, the headers with names in lower case, and the body: json where the answer is JSON, "
                + "else text, of more than 64 KiB the beginning and the end. What is larger than 4 MiB or no text goes into a "
                + "file with --to, which is replaced when all of it is there. A status of 400 or more fails the step, as do "
                + "statuses that --expect does not list.\n\n"
                + "Nothing is signed by itself, and your certificate is not shown: credentials are those of the request, from "
                + "--token-env or a bundle's env, and on a redirect they go to no other server. With --retries it is sent again after 408, 429, 500, 502, 503 "
                + "and 504, and when there was no answer, if its method may be repeated or it has an idempotency key. It goes "
                + "through the proxies of the environment.\n\n"
                + "A bundle names the server in permissions.hosts, also those that others redirect to. This machine, its "
                + "link and the metadata service of a cloud are reached only where they are named as such."
        )
        .example("martlet http request https://example.com/health", "Whether it answers")
        .example(
            "martlet http request https://api.example.com/v1/items --data '{\"name\":\"a\"}' --token-env API_TOKEN",
            "A POST with a body in JSON"
        )
        .example("martlet http request https://example.com/large.iso --to large.iso", "Into a file")
    }
}

/// What `http.request` takes.
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
        bind(\.url, .argument("url", "The address, which begins with https:// or http://")),
        bind(\.method, .option("method", "What is asked for: POST where there is a body, else GET", short: "X")),
        bind(\.headers, .option("header", "Headers by name", short: "H")),
        bind(\.query, .option("query", "What is added to the address after its question mark, by name")),
        bind(\.data, .option("data", "A body in JSON")),
        bind(\.form, .option("form", "A body as browsers send forms, by name")),
        bind(\.body, .option("body", "A body that is text")),
        bind(\.file, .option("file", "The file that is the body")),
        bind(\.token, .secret("token", "A token that is sent as Authorization: Bearer")),
        bind(\.user, .option("user", "Who is sent as Authorization: Basic")),
        bind(\.password, .secret("password", "The password of that user")),
        bind(\.target, .option("to", "The file that becomes the body of the answer")),
        bind(\.expected, .option("expect", "The statuses that are well; all below 400 when absent")),
        bind(
            \.retries,
            .option(
                "retries", "How often it is sent again when the server is not there or not well", in: 0...10, default: 0
            )),
        bind(
            \.idempotencyKey,
            .option(
                "idempotency-key", "Tells the server that it has seen a request, so that a POST is sent again as well")),
        bind(\.wait, .option("wait", "How long the server may be silent", default: Duration.seconds(120))),
        bind(\.staysHere, .flag("no-follow", "Take a redirect for the answer, and do not follow it")),
    ]

    init() {}
}

/// What can be asked for.
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

/// Makes a request of what an action is given, and refuses what must not be sent. What is called like a credential is told
/// to the redactor, so that it is not shown when it comes back.
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
            guard let url else { throw Self.refusal("the address is missing") }
            guard method != .head || !hasBody else { throw Self.refusal("a request with HEAD has no body") }
            return HTTPRequest(method ?? (hasBody ? .post : .get), url, headers: headers, body: body)
        }
    }

    // MARK: Address

    mutating func address(_ given: HostValue, _ query: [String: JSON]) throws {
        let text = String(given.text.prefix { $0 != "#" })
        if let scheme = text.firstRange(of: "://"),
            text[scheme.upperBound...].prefix(while: { !"/?\\".contains($0) }).contains("@")
        {
            throw Self.refusal(
                "the address holds a user or a password, which everybody sees who sees the address; give token, or user and "
                    + "password, or a header instead")
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
                throw Self.refusal("the header \(shown) follows from the address and the body, and is not given")
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
            throw Self.refusal("give token alone, or user and password")
        }
        guard headers["Authorization"] == nil else {
            throw Self.refusal("give the header Authorization, or what it is made of, and not both")
        }
        token?.withText { headers.append("Authorization", "Bearer \($0)") }
        if let user, let password {
            guard !user.contains(":") else { throw Self.refusal("the user cannot hold a colon") }
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
            "the header \(PlainText.escape(String(field.name.prefix(40)))) holds a character that may not stand there, such "
                + "as a line break, which would begin another header")
    }

    /// What says how the connection is used. By Host a server could be reached other than the one that was permitted.
    private static let connection = [
        "Host", "Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE",
        "Trailer", "Transfer-Encoding", "Upgrade",
    ]

    // MARK: Body

    /// - Parameter hasFile: whether the body is a file.
    mutating func body(data: JSON?, form: [String: JSON], text: String?, hasFile: Bool) throws {
        let fields = try fields(form, of: "form")
        let count = [data != nil, !form.isEmpty, text != nil, hasFile].count(where: \.self)
        guard count < 2 else { throw Self.refusal("give one of data, form, body and file") }
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

    /// A text that begins like an object or a list is meant as one, as a shell and `json()` have it.
    private static func json(_ data: JSON) throws -> JSON {
        guard let text = data.string, let first = text.first, "{[".contains(first) else { return data }
        do throws(JSONError) { return try JSON(parsing: text) } catch {
            throw refusal("data is no JSON (\(error.message)); give body with a header Content-Type for other text")
        }
    }

    private mutating func setType(_ type: String) {
        if headers["Content-Type"] == nil { headers.append("Content-Type", type) }
    }

    // MARK: Fields

    /// Names with their values: a list gives a name several times, and what is null is left out.
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
        case .object: throw refusal("\(place) needs a text, a number or true or false, not an object")
        case .string(let text): return [text]
        default: return [value.text()]
        }
    }

    private static func encoded(_ fields: [HTTPHeaders.Field]) -> String {
        fields.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "-._~".utf8.contains(byte): encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// Words of names whose values are credentials, however short.
    private static let telling: Set<Substring> = [
        "accesstoken", "apikey", "authorization", "clientsecret", "cookie", "passphrase", "passwd", "password",
        "refreshtoken", "secret", "token",
    ]
    /// Words of names whose values are often something else, such as that of an issue.
    private static let vague: Set<Substring> = ["auth", "credential", "key", "session", "sig", "signature"]

    /// What is called like a credential is one, with its scheme and without.
    private func learn(_ value: String, of name: String) {
        let words = name.lowercased().split { "-_.".contains($0) }
        let isLong = value.utf8.count >= 16 && words != ["idempotency", "key"]
        guard words.contains(where: { Self.telling.contains($0) || isLong && Self.vague.contains($0) }) else { return }
        redactor.learn(Secret(value))
        if let space = value.firstIndex(of: " ") { redactor.learn(Secret(String(value[value.index(after: space)...]))) }
    }

    private static func refusal(_ reason: String) -> RunnerError { .options(reason) }
}
