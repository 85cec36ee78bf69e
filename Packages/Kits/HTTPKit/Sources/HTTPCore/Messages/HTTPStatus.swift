/// The status code of a response.
public struct HTTPStatus: Sendable, Hashable, CustomStringConvertible {
    /// The number, usually from 100 to 599.
    public let code: Int

    /// Any code; it is not checked.
    public init(_ code: Int) {
        self.code = code
    }

    /// Whether the request succeeded: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(code) }
    /// Whether `Location` names the address to use instead: 301, 302, 303, 307 or 308.
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(code) }

    /// The usual reason phrase; empty if there is none.
    public var reason: String { Self.reasons[code] ?? "" }

    public var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }

    /// 200: the request succeeded.
    public static let ok = HTTPStatus(200)
    /// 201: something was created.
    public static let created = HTTPStatus(201)
    /// 202: accepted, but the work is not done yet.
    public static let accepted = HTTPStatus(202)
    /// 204: succeeded, without a body.
    public static let noContent = HTTPStatus(204)
    /// 206: the requested range of the content.
    public static let partialContent = HTTPStatus(206)
    /// 304: the client's copy is still current.
    public static let notModified = HTTPStatus(304)
    /// 400: the server cannot understand the request.
    public static let badRequest = HTTPStatus(400)
    /// 401: the credential is missing or not valid.
    public static let unauthorized = HTTPStatus(401)
    /// 403: the client is known, but not allowed to do this.
    public static let forbidden = HTTPStatus(403)
    /// 404: there is nothing at this address.
    public static let notFound = HTTPStatus(404)
    /// 405: the address exists, but not for this method.
    public static let methodNotAllowed = HTTPStatus(405)
    /// 409: the request contradicts the current state.
    public static let conflict = HTTPStatus(409)
    /// 413: the body is too large.
    public static let contentTooLarge = HTTPStatus(413)
    /// 422: the request is well-formed, but its values are not valid.
    public static let unprocessable = HTTPStatus(422)
    /// 423: the target is locked.
    public static let locked = HTTPStatus(423)
    /// 429: the client must slow down; `Retry-After` may say how long.
    public static let tooManyRequests = HTTPStatus(429)
    /// 500: an error inside the server.
    public static let internalServerError = HTTPStatus(500)
    /// 501: the server does not support what the request needs.
    public static let notImplemented = HTTPStatus(501)
    /// 502: a server behind this one sent an invalid response.
    public static let badGateway = HTTPStatus(502)
    /// 503: the server is starting, overloaded or shutting down.
    public static let serviceUnavailable = HTTPStatus(503)
    /// 504: a server behind this one did not respond in time.
    public static let gatewayTimeout = HTTPStatus(504)

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
        204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
        412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 423: "Locked", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
