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
    let decodes: Bool
    let version: HTTPVersionChoice
    let unixSocket: String?
    let mayRepeat: Bool
    let onProgress: (@Sendable (HTTPProgress) -> Void)?

    init(_ request: HTTPRequest, lines: [String], delivery: Delivery, upload: Upload) {
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
        limits = TransferClock.Limits(
            connect: request.limits.connect.nanoseconds,
            firstByte: (request.limits.firstByte ?? usual).nanoseconds,
            idle: request.limits.idle?.nanoseconds, total: total?.nanoseconds)
        connect = request.limits.connect
        headLimit = request.limits.head
        let decodes: Bool
        if let choice = request.acceptsCompressed {
            decodes = choice
        } else if case .whole = delivery {
            decodes = request.headers["Accept-Encoding"] == nil
        } else {
            decodes = false
        }
        self.decodes = decodes
        // Sixteen KiB of gzip can become sixteen MiB at once, which libcurl holds while the reader is slow.
        readSize = decodes ? min(request.limits.readSize, 16 << 10) : request.limits.readSize
        version = request.version
        unixSocket = request.unixSocket
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
