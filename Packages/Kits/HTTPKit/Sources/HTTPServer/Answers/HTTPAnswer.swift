public import Capabilities
public import HTTPCore
import JSON

/// The response of a handler.
///
/// ```swift
/// .json(model)                                        // 200, application/json
/// .text("not ready", status: .serviceUnavailable)
/// .file("/srv/model.gguf")                            // with ranges, ETag and Last-Modified
/// .stream("text/plain") { body in try await body.write("…") }
/// .events { events in try await events.send(ServerSentEvent(data: "…")) }
/// ```
public struct HTTPAnswer: Sendable {
    /// The status of the response.
    public var status: HTTPStatus
    /// Headers besides those that frame the body, which the server adds itself: `Content-Length`, `Transfer-Encoding`
    /// and `Connection` are refused here.
    public var headers: HTTPHeaders
    var content: Content

    // Indirect, because an answer of four words is passed in registers and takes no room in a connection's task.
    indirect enum Content: Sendable {
        case none
        case bytes([UInt8])
        case file(String)
        case stream(length: Int?, @Sendable (BodyWriter) async throws -> Void)
        case events(isEndless: Bool, @Sendable (EventStreamWriter) async throws -> Void)
        case webSocket([String], WebSocketLimits, @Sendable (ServerWebSocket) async throws -> Void)

        /// Whether part of the handler runs after it has returned the response.
        var isMadeLater: Bool {
            switch self {
            case .stream, .events, .webSocket: true
            case .none, .bytes, .file: false
            }
        }
    }

    init(_ status: HTTPStatus, type: String? = nil, _ content: Content) {
        self.status = status
        self.content = content
        headers = HTTPHeaders()
        if let type { headers.append("Content-Type", type) }
    }

    /// A status without a body, such as 204.
    public static func empty(_ status: HTTPStatus = .noContent) -> HTTPAnswer {
        HTTPAnswer(status, .none)
    }

    /// A value as JSON.
    public static func json(_ value: some OutputValue, status: HTTPStatus = .ok) -> HTTPAnswer {
        var bytes: [UInt8] = []
        value.json.write(into: &bytes)
        return HTTPAnswer(status, type: "application/json", .bytes(bytes))
    }

    /// Text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> HTTPAnswer {
        HTTPAnswer(status, type: "text/plain; charset=utf-8", .bytes(Array(text.utf8)))
    }

    /// Bytes of the given type. With an `etag`, clients may request ranges and check whether their copy is current.
    public static func bytes(_ bytes: [UInt8], type: String, status: HTTPStatus = .ok, etag: String? = nil)
        -> HTTPAnswer
    {
        var answer = HTTPAnswer(status, type: type, .bytes(bytes))
        answer.headers["ETag"] = etag
        return answer
    }

    /// A regular file, read while it is sent; a missing file is answered with 404.
    public static func file(_ path: String, type: String? = nil) -> HTTPAnswer {
        HTTPAnswer(.ok, type: type ?? MediaType.ofFile(path), .file(path))
    }

    /// A body produced while it is sent. `write` waits while the client does not read. A known length lets the client
    /// show progress; then exactly that many bytes must be written.
    ///
    /// The task is cancelled when the client disconnects. An error after the first byte ends the connection, so that
    /// the client can detect the truncation.
    public static func stream(
        _ type: String, length: Int? = nil, status: HTTPStatus = .ok,
        _ body: @escaping @Sendable (BodyWriter) async throws -> Void
    ) -> HTTPAnswer {
        HTTPAnswer(status, type: type, .stream(length: length, body))
    }

    /// A stream of server-sent events, which lasts until `body` returns or the client disconnects.
    ///
    /// Declare a stream endless if it never ends by itself, such as a feed of changes: its task is cancelled as soon as
    /// the server stops, while other streams get time to finish.
    public static func events(
        isEndless: Bool = false, _ body: @escaping @Sendable (EventStreamWriter) async throws -> Void
    ) -> HTTPAnswer {
        var answer = HTTPAnswer(.ok, type: "text/event-stream", .events(isEndless: isEndless, body))
        answer.headers.append("Cache-Control", "no-cache")
        // Otherwise proxies such as nginx buffer the response.
        answer.headers.append("X-Accel-Buffering", "no")
        return answer
    }

    /// Upgrades the connection to a WebSocket. Any other request is answered with 426.
    public static func upgrade(
        protocols: [String] = [], limits: WebSocketLimits = WebSocketLimits(),
        _ body: @escaping @Sendable (ServerWebSocket) async throws -> Void
    ) -> HTTPAnswer {
        HTTPAnswer(HTTPStatus(101), .webSocket(protocols, limits, body))
    }

    /// Redirects the client.
    public static func redirect(to location: String, status: HTTPStatus = HTTPStatus(303)) -> HTTPAnswer {
        HTTPAnswer(status, .none).header("Location", location)
    }

    /// The same response with one more header line.
    public func header(_ name: String, _ value: String) -> HTTPAnswer {
        var copy = self
        copy.headers.append(name, value)
        return copy
    }
}

/// Guesses the media type of a file from its name.
enum MediaType {
    static func ofFile(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        return types[name[name.index(after: dot)...].lowercased()] ?? fallback
    }

    private static let fallback = "application/octet-stream"
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json", "md": "text/markdown; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg",
        "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "pdf": "application/pdf",
        "wasm": "application/wasm", "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        "zip": "application/zip", "gz": "application/gzip",
    ]
}
