import Capabilities
public import HTTPCore
import LoopKit

/// A request to a server and its limits.
public struct HTTPRequest: Sendable {
    /// The method, such as `.get`.
    public var method: HTTPMethod
    /// The address, without user and password.
    public var url: HTTPURL
    /// The headers besides those that the client sets: `Content-Length`, `Transfer-Encoding` and `Expect` are refused.
    public var headers: HTTPHeaders
    /// The body; `.none` sends no body.
    public var body: HTTPBody
    /// The time and size limits.
    public var limits = HTTPLimits()
    /// How redirects are handled; by default up to ten are followed.
    public var redirects = RedirectPolicy.follow
    /// When the request is retried; by default up to three times, if that cannot do its work twice.
    public var retry = RetryPolicy.standard
    /// Sent as `Idempotency-Key`. A server that supports it does the work only once, so a request with a key is retried
    /// in cases where one without is not.
    public var idempotencyKey: String?
    /// The Unix socket of a server on this machine; host and port then appear only in the request.
    public var unixSocket: String?
    /// The protocol version to use. HTTP/2 needs an https address.
    public var version = HTTPVersionChoice.automatic
    /// Whether the server may compress the response, which is decompressed here. By default it may for whole responses,
    /// but not for streams and downloads: a compressed stream can be late, and is read in smaller pieces because it can
    /// expand a thousandfold. A response compressed without being asked for is decompressed anyway; with `false` it is
    /// left as sent.
    public var acceptsCompressed: Bool?
    /// Sends the body in gzip if it consists of bytes and that makes it shorter. Use it only for servers known to
    /// support it; there is no negotiation.
    public var compressesBody = false
    /// Called on the client's thread after bytes were sent or received; it must not block.
    public var onProgress: (@Sendable (HTTPProgress) -> Void)?

    /// A request with the default limits, redirects and retries.
    public init(_ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = [:], body: HTTPBody = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The request as sent, with its body compressed if enabled and useful.
    nonisolated(nonsending) func compressed() async throws -> HTTPRequest {
        guard compressesBody, headers["Content-Encoding"] == nil, case .bytes(let bytes) = body,
            (1 << 10..<1 << 30).contains(bytes.count)
        else { return self }
        let smaller: [UInt8]?
        if bytes.count <= 256 << 10 {
            smaller = Gzip.compress(bytes)
        } else {
            // Compression is too slow for the shared pool.
            do throws(LoopError) {
                smaller = try await onOwnThread { Gzip.compress(bytes) }
            } catch {
                throw HTTPError(.invalid, error.message, mayHaveBeenSent: false, server: url.server, cause: error)
            }
        }
        guard let smaller else { return self }
        var request = self
        request.body = .bytes(smaller)
        request.headers["Content-Encoding"] = "gzip"
        request.compressesBody = false
        return request
    }

    /// Whether sending it twice has the same effect as sending it once.
    var mayRepeat: Bool { method.isIdempotent || idempotencyKey != nil }

    /// Throws if the request must not be sent.
    func check(userAgent: String) throws(HTTPError) {
        func refusal(_ reason: String) -> HTTPError {
            HTTPError(
                .invalid, "the request to \(url.server) cannot be sent: \(reason)", mayHaveBeenSent: false,
                server: url.server)
        }
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
            throw refusal("its method is not valid")
        }
        if let field = headers.firstInvalid {
            throw refusal(
                "the header \u{201C}\(field.name.prefix(40))\u{201D} contains an invalid character")
        }
        guard userAgent.utf8.allSatisfy(HTTPHeaders.isValueByte) else {
            throw refusal("the user agent contains an invalid character")
        }
        for name in ["Content-Length", "Transfer-Encoding", "Expect"] where headers[name] != nil {
            throw refusal("\(name) is set automatically; remove it")
        }
        if let idempotencyKey, !idempotencyKey.utf8.allSatisfy(HTTPHeaders.isValueByte) {
            throw refusal("its idempotency key contains an invalid character")
        }
    }

    /// The header lines in libcurl's form, where a semicolon marks an empty value.
    func lines(traced: Bool) -> [String] {
        var lines: [String] = []
        for (name, value) in headers { lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)") }
        if let idempotencyKey { lines.append("Idempotency-Key: \(idempotencyKey)") }
        if traced, headers["traceparent"] == nil, let context = TraceContext.current {
            lines.append("traceparent: \(context.traceparent)")
            if let state = context.state { lines.append("tracestate: \(state)") }
        }
        return lines
    }
}

/// The number of body bytes sent and received.
public struct HTTPProgress: Sendable, Hashable {
    /// The bytes of the request's body that were sent so far.
    public var sent: Int
    /// Nil if the length of the body is unknown.
    public var toSend: Int?
    /// The bytes of the response's body that were received so far.
    public var received: Int
    /// Nil if the server did not announce the response's length.
    public var toReceive: Int?
}

/// The protocol version.
public enum HTTPVersionChoice: Sendable, Hashable {
    /// HTTP/2 if the server offers it in the handshake, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1, even if the server offers HTTP/2.
    case http1
}

/// The body of a request.
public enum HTTPBody: Sendable {
    /// No body.
    case none
    /// These bytes, which can be sent again for a retry or a redirect.
    case bytes([UInt8])
    /// A regular file, or part of one, read while it is sent. Errors name it `naming`, by default its path.
    case file(path: String, range: Range<Int>? = nil, naming: String? = nil)
    /// Bytes produced while they are sent, only as fast as the server accepts them. A stream can be sent only once:
    /// such a request is neither retried nor redirected.
    case stream(length: Int?, any AsyncSequence<[UInt8], any Error> & Sendable)

    /// A body with the UTF-8 text.
    public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }

    var canBeSentAgain: Bool {
        if case .stream = self { false } else { true }
    }
}

/// Time and size limits. An exceeded limit is named in the error.
public struct HTTPLimits: Sendable, Hashable {
    /// For the connection: name lookup, TCP, proxy and TLS.
    public var connect: Duration = .seconds(10)
    /// From the end of the request to the beginning of the response; nil is 30 s for local servers, 120 s for others.
    public var firstByte: Duration?
    /// Time without a byte sent or received, except while the caller pauses the stream. Nil is no limit.
    public var idle: Duration? = .seconds(120)
    /// For one attempt at a whole response, including sending the request. Nil is 30 s for local servers and 120 s for
    /// others, without the time to send a large body. Streams and downloads have no total limit by default.
    public var total: Duration?
    /// For the server's message when it refuses a stream.
    public var words: Duration = .seconds(5)
    /// Maximum bytes of all header lines together.
    public var head = 256 << 10
    /// Maximum bytes of a whole response, after decompression.
    public var body = 64 << 20
    /// Maximum bytes of a stream that wait for their reader before the server is paused, from 16 to 512 KiB. It grows
    /// up to 512 KiB while the reader keeps up. The same number of bytes may also have been read from the system.
    public var buffer = 64 << 10

    /// The default limits.
    public init() {}

    var held: Int { min(max(buffer, 16 << 10), ReadAhead.most) }

    /// How much libcurl reads at once; more costs memory and gains nothing.
    var readSize: Int { held < 64 << 10 ? held : 128 << 10 }
}
