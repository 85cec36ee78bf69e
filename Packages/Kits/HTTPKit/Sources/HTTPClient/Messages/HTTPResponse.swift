public import HTTPCore

/// A whole response.
public struct HTTPResponse: Sendable {
    /// The status. A failure status is not thrown; see `requireSuccess`.
    public let status: HTTPStatus
    /// The headers of the response, without those of redirects before it.
    public let headers: HTTPHeaders
    /// The address that responded; differs from the requested one after redirects.
    public let url: HTTPURL
    /// The protocol version that the server used.
    public let version: HTTPVersion
    /// The body, decompressed if the server compressed it.
    public let body: [UInt8]
    /// Whether the connection had served another request before.
    public let isReused: Bool
    /// How many times the request was sent.
    public let attempts: Int

    /// The body as text; invalid UTF-8 is repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns itself, or throws an error with the server's message if the status means failure.
    public func requireSuccess() throws(HTTPError) -> HTTPResponse {
        guard !status.isSuccess else { return self }
        throw HTTPError(status: status, headers: headers, body: body, server: url.server)
    }
}

/// The HTTP version of a response.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// The number before the dot.
    public let major: Int
    /// The number after the dot; 0 for HTTP/2.
    public let minor: Int

    /// A version by its two numbers.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// HTTP/1.0.
    public static let http10 = HTTPVersion(major: 1, minor: 0)
    /// HTTP/1.1.
    public static let http11 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2.
    public static let http2 = HTTPVersion(major: 2, minor: 0)

    public var description: String { minor == 0 && major > 1 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
}
