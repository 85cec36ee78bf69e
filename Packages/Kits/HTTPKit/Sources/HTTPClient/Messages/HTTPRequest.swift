public import HTTPCore
import LoopKit

/// What is sent to a server, and within which limits the answer is waited for.
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    public var url: HTTPURL
    public var headers: HTTPHeaders
    public var body: HTTPBody
    public var limits = HTTPLimits()
    public var redirects = RedirectPolicy.follow
    public var retry = RetryPolicy.standard
    /// Sent as `Idempotency-Key`. A server that knows it does the request once however often it comes, so a request
    /// with it is sent again where one without is not.
    public var idempotencyKey: String?
    /// The socket of a server on this machine; host and port then only stand in the request.
    public var unixSocket: String?
    public var version = HTTPVersionChoice.automatic
    /// Whether the server may compress the answer, which arrives here as it was before. Without a choice it may for
    /// whole answers, and may not for streams and downloads: a compressed stream can be late, and it is read in
    /// smaller pieces, because a few bytes of it can become a thousand times as many. One that is compressed without
    /// being asked for is understood all the same; with `false` it arrives as it was sent.
    public var acceptsCompressed: Bool?
    /// Sends the body in gzip, where it is bytes and that makes it shorter. Only for servers that are known to understand
    /// it: there is no way to ask.
    public var compressesBody = false
    /// Called on the client's own thread after bytes came or went; it must not wait.
    public var onProgress: (@Sendable (HTTPProgress) -> Void)?

    public init(_ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = [:], body: HTTPBody = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The request as it goes out: with its body compressed, where that is wanted and gains anything.
    nonisolated(nonsending) func compressed() async throws -> HTTPRequest {
        guard compressesBody, headers["Content-Encoding"] == nil, case .bytes(let bytes) = body,
            (1 << 10..<1 << 30).contains(bytes.count)
        else { return self }
        let smaller: [UInt8]?
        if bytes.count <= 256 << 10 {
            smaller = Gzip.compress(bytes)
        } else {
            // It takes longer than others of the shared pool should wait.
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

    /// Whether sending it twice does no more than sending it once.
    var mayRepeat: Bool { method.isIdempotent || idempotencyKey != nil }
}

/// How many bytes of the bodies have gone and come.
public struct HTTPProgress: Sendable, Hashable {
    public var sent: Int
    /// Nil when the length of the body is not known.
    public var toSend: Int?
    public var received: Int
    /// Nil when the server did not say how long its answer is.
    public var toReceive: Int?
}

/// Which version of the protocol is spoken.
public enum HTTPVersionChoice: Sendable, Hashable {
    /// HTTP/2 where the server offers it in the handshake, else HTTP/1.1.
    case automatic
    case http1
}

/// What a request carries.
public enum HTTPBody: Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, or a part of it, read while it is sent. Errors call it by `naming`, where that is not its path.
    case file(path: String, range: Range<Int>? = nil, naming: String? = nil)
    /// Bytes that are made while they are sent. No more is asked for than the server takes, and it can be sent only
    /// once: such a request is neither repeated nor redirected.
    case stream(length: Int?, any AsyncSequence<[UInt8], any Error> & Sendable)

    /// The body of a text.
    public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }

    var canBeSentAgain: Bool {
        if case .stream = self { false } else { true }
    }
}

/// How long is waited and how much is taken. Every limit is named in the error of a request that exceeds it.
public struct HTTPLimits: Sendable, Hashable {
    /// Until the connection is made: name, TCP, proxy and TLS.
    public var connect: Duration = .seconds(10)
    /// From the end of the request to the beginning of the answer; nil is 30 s for local servers, 120 s for others.
    public var firstByte: Duration?
    /// Without a byte coming or going; time in which the caller holds the stream up does not count. Nil is no limit.
    public var idle: Duration? = .seconds(120)
    /// For one try at a whole answer, the sending of its request included. Nil is 30 s for local servers and 120 s for
    /// others, in which the sending of a large body does not count. Streams and downloads have a total limit only when
    /// one is given.
    public var total: Duration?
    /// For what the server of a stream says about its refusal.
    public var words: Duration = .seconds(5)
    /// Bytes of all header lines together.
    public var head = 256 << 10
    /// Bytes of a whole answer, counted after it was decompressed.
    public var body = 64 << 20
    /// Bytes of a stream that wait for their reader before the server is made to wait, from 16 to 512 KiB. It becomes up
    /// to 512 KiB for as long as the reader takes them at once. As many may have been read from the system besides.
    public var buffer = 64 << 10

    public init() {}

    var held: Int { min(max(buffer, 16 << 10), ReadAhead.most) }

    /// How much libcurl reads at once: more costs memory and gains nothing.
    var readSize: Int { held < 64 << 10 ? held : 128 << 10 }
}
