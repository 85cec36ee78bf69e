import Capabilities
import Cryptography
import HTTPCore

/// Everything that the engine needs to know about one attempt.
struct TransferPlan: Sendable {
    /// How the response body is delivered.
    enum Delivery: Sendable {
        /// Returned when complete; a larger body is an error.
        case whole(limit: Int)
        /// Delivered as it arrives; the server is paused when this many bytes wait.
        case stream(limit: Int)
    }

    let url: HTTPURL
    let method: HTTPMethod
    let lines: [String]
    let hasContentType: Bool
    let upload: Upload
    let delivery: Delivery
    let limits: TransferClock.Limits
    let connect: Duration
    let headLimit: Int
    let readSize: Int
    /// Whether the request allows a compressed response.
    let asksCompressed: Bool
    /// Whether a compressed response is decompressed, even if it was not requested.
    let understandsCompressed: Bool
    /// Whether HTTP/2 is offered. Without TLS servers do not accept it, and waiting for it would serialize requests.
    let mayUseHTTP2: Bool
    let unixSocket: String?
    /// The grant that must allow the resolved address; nil for a socket and for callers who may do everything.
    let grant: Grant?
    let mayRepeat: Bool
    let onProgress: (@Sendable (HTTPProgress) -> Void)?

    init(_ request: HTTPRequest, lines: [String], delivery: Delivery, upload: Upload, grant: Grant) {
        url = request.url
        method = request.method
        self.lines = lines
        hasContentType = request.headers["Content-Type"] != nil
        self.upload = upload
        self.delivery = delivery
        let isLocal = request.unixSocket != nil || request.url.isLocal
        // D-05: 30 s for local addresses, 120 s for remote ones.
        let usual = Duration.seconds(isLocal ? 30 : 120)
        let total: Duration? =
            if case .whole = delivery { request.limits.total ?? usual } else { request.limits.total }
        // Without an explicit total limit, sending a large body does not count.
        let countsSending = request.limits.total != nil
        limits = TransferClock.Limits(
            connect: request.limits.connect.nanoseconds,
            firstByte: (request.limits.firstByte ?? usual).nanoseconds,
            idle: request.limits.idle?.nanoseconds, total: total?.nanoseconds, totalCountsSending: countsSending)
        connect = request.limits.connect
        headLimit = request.limits.head
        let asks: Bool
        if let choice = request.acceptsCompressed {
            asks = choice
        } else if case .whole = delivery {
            asks = request.headers["Accept-Encoding"] == nil
        } else {
            asks = false
        }
        asksCompressed = asks
        // Some servers compress without being asked. A range of a compressed body cannot be decompressed on its own.
        understandsCompressed =
            asks
            || request.acceptsCompressed == nil && request.headers["Accept-Encoding"] == nil
                && request.headers["Range"] == nil
        // 16 KiB of gzip can become 16 MiB at once, which libcurl holds while the reader is slow.
        readSize = asks ? min(request.limits.readSize, 16 << 10) : request.limits.readSize
        mayUseHTTP2 = request.version == .automatic && request.url.scheme == .https
        unixSocket = request.unixSocket
        // The engine's thread has no caller.
        self.grant = request.unixSocket != nil || grant == .person ? nil : grant
        mayRepeat = request.mayRepeat
        onProgress = request.onProgress
    }
}

/// The head of a response.
struct ResponseHead: Sendable {
    var status: HTTPStatus
    var headers: HTTPHeaders
    var version: HTTPVersion
    /// Whether the connection had served another request before.
    var isReused: Bool
    /// When its phases ended, from the beginning of the attempt; nil for one that there was not.
    var times = Times()

    struct Times: Sendable {
        var connected: Duration?
        var secured: Duration?
        var firstByte: Duration?
    }
}
