import HTTPCore

/// How redirects are handled.
public struct RedirectPolicy: Sendable, Hashable {
    /// The maximum number of redirects in a row; one more is an error. Zero returns the redirect itself to the caller.
    public var most: Int
    /// Whether a redirect from https to http is followed, which exposes the traffic on the way.
    public var mayLoseTLS: Bool

    /// - Parameter most: the maximum number of redirects in a row; zero follows none.
    public init(most: Int, mayLoseTLS: Bool = false) {
        self.most = most
        self.mayLoseTLS = mayLoseTLS
    }

    /// Follows up to ten redirects, but none from https to http.
    public static let follow = RedirectPolicy(most: 10)
    /// Returns a redirect itself to the caller.
    public static let none = RedirectPolicy(most: 0)

    /// The request that a response redirects to, or nil when the response is for the caller.
    ///
    /// `followed` redirects came before this one.
    func next(
        after request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders, followed: Int
    ) throws(HTTPError) -> HTTPRequest? {
        guard most > 0, status.isRedirect, let location = headers["Location"] else { return nil }
        func refusal(_ reason: String, _ cause: HTTPError? = nil) -> HTTPError {
            HTTPError(
                .redirect, "did not follow a redirect from \(request.url.server): \(reason)", status: status,
                server: request.url.server, cause: cause)
        }
        guard followed < most else { throw refusal("the limit is \(most) redirects") }
        let url: HTTPURL
        do {
            url = try request.url.resolving(location)
        } catch {
            throw refusal("its target is not a valid address", error)
        }
        if request.url.scheme == .https, url.scheme == .http, !mayLoseTLS {
            throw refusal("it leads from https to http, which others on the network could read")
        }
        var next = request
        next.url = url
        if Self.becomesGet(status, request.method) {
            next.method = .get
            next.body = .none
            for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range"] {
                next.headers.remove(name)
            }
        } else if !request.body.canBeSentAgain {
            throw refusal("the body is a stream, which can be sent only once; send it to \(url.server) directly")
        }
        if !url.isSameOrigin(as: request.url) {
            guard request.unixSocket == nil else { throw refusal("it leads from a local socket to another server") }
            // Credential headers have too many names to list, so harmless headers are listed instead.
            for (name, _) in request.headers where !Self.isForEverybody(name) { next.headers.remove(name) }
            next.idempotencyKey = nil
        }
        return next
    }

    private static func isForEverybody(_ name: String) -> Bool {
        harmless.contains { HTTPHeaders.isSame($0, name) }
    }

    private static let harmless = [
        "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding",
        "Content-Language", "Content-Type", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
        "If-Unmodified-Since", "Pragma", "Prefer", "Range", "User-Agent",
    ]

    /// RFC 9110 turns any method into GET on 303, and allows POST to become GET on 301 and 302, as every browser does.
    private static func becomesGet(_ status: HTTPStatus, _ method: HTTPMethod) -> Bool {
        switch status.code {
        case 303: method != .get && method != .head
        case 301, 302: method == .post
        default: false
        }
    }
}
