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
            "http.request", "Send a request to a server", .writes,
            .argument("url", "The address, which begins with https:// or http://", as: HostValue.self),
            .option(
                "method", "What is asked for: POST where there is a body, else GET", as: RequestMethod?.self, short: "X"
            ),
            .option("header", "Headers by name", as: [String: JSON].self, short: "H"),
            .option("query", "What is added to the address after its question mark, by name", as: [String: JSON].self),
            .option("data", "A body in JSON", as: JSON?.self),
            .option("form", "A body as browsers send forms, by name", as: [String: JSON].self),
            .option("body", "A body that is text", as: String?.self),
            .option("file", "The file that is the body", as: ReadPath?.self),
            .secret("token", "A token that is sent as Authorization: Bearer") as Parameter<Secret?>,
            .option("user", "Who is sent as Authorization: Basic", as: String?.self),
            .secret("password", "The password of that user") as Parameter<Secret?>,
            .option("to", "The file that becomes the body of the answer", as: WritePath?.self),
            .option("expect", "The statuses that are well; all below 400 when absent", as: [Int].self),
            .option(
                "retries", "How often it is sent again when the server is not there or not well", in: 0...10, default: 0
            ),
            .option(
                "idempotency-key", "Tells the server that it has seen a request, so that a POST is sent again as well",
                as: String?.self),
            .option("wait", "How long the server may be silent", default: Duration.seconds(120)),
            .flag("no-follow", "Take a redirect for the answer, and do not follow it")
        ) {
            context, url, method, header, query, data, form, body, file, token, user, password, to, expected, retries,
            key, wait, staysHere in
            var made = RequestBuilder(context, method: method?.http)
            try made.address(url, query)
            try made.headers(header)
            try made.authorize(token: token, user: user, password: password)
            let source = try file.map(context.path)
            try made.body(data: data, form: form, text: body, hasFile: source != nil)
            var request = try made.request
            request.idempotencyKey = key
            request.redirects = staysHere ? .none : .follow
            (request.limits.firstByte, request.limits.idle) = (wait, wait)
            request.limits.connect = min(wait, request.limits.connect)
            request.retry = RetryPolicy(attempts: retries + 1)
            request.retry.statuses = request.retry.statuses.union([.internalServerError])
                .subtracting(expected.map(HTTPStatus.init))
            let exchange = RequestExchange(
                client: try await services.client.client(for: context), context: context, expected: Set(expected))
            let answer = try await exchange.answer(
                to: request, sending: source, writing: try to.map(context.path))
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
