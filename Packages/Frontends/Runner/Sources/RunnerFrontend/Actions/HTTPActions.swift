import Capabilities
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
