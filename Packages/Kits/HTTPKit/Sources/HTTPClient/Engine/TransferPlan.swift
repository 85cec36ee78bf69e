import Capabilities
import Cryptography
import HTTPCore

/// Everything that the engine needs to know of one try.
struct TransferPlan: Sendable {
    /// What becomes of the answer's body.
    enum Delivery: Sendable {
        /// It is given out when it is complete, and is an error when it is larger.
        case whole(limit: Int)
        /// It is given out as it comes; the server is made to wait when so much lies here.
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
    /// Whether the server is told that it may compress the answer.
    let asksCompressed: Bool
    /// Whether an answer that it compressed is decompressed here, asked for or not.
    let understandsCompressed: Bool
    /// Whether HTTP/2 is offered: without TLS nobody takes it, and waiting for that would put requests in a row.
    let mayUseHTTP2: Bool
    let unixSocket: String?
    /// Within which the address has to be that the server's name leads to; nil for a socket, and for who may do everything.
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
        // A large body may take its time where nobody said how long the whole may last.
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
        // Some servers compress without being asked. A part of a compressed body cannot be read by itself.
        understandsCompressed =
            asks
            || request.acceptsCompressed == nil && request.headers["Accept-Encoding"] == nil
                && request.headers["Range"] == nil
        // Sixteen KiB of gzip can become sixteen MiB at once, which libcurl holds while the reader is slow.
        readSize = asks ? min(request.limits.readSize, 16 << 10) : request.limits.readSize
        mayUseHTTP2 = request.version == .automatic && request.url.scheme == .https
        unixSocket = request.unixSocket
        // The engine's thread knows no caller.
        self.grant = request.unixSocket != nil || grant == .person ? nil : grant
        mayRepeat = request.mayRepeat
        onProgress = request.onProgress
    }
}

/// The head of an answer.
struct ResponseHead: Sendable {
    var status: HTTPStatus
    var headers: HTTPHeaders
    var version: HTTPVersion
    /// Whether the connection had served another request before.
    var isReused: Bool
}
