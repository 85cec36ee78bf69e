public import HTTPCore

/// A whole answer.
public struct HTTPResponse: Sendable {
    public let status: HTTPStatus
    public let headers: HTTPHeaders
    /// The address that answered, which differs from the one asked when there were redirects.
    public let url: HTTPURL
    public let version: HTTPVersion
    /// The body, decompressed where the server compressed it.
    public let body: [UInt8]
    /// Whether the connection had served another request before.
    public let isReused: Bool
    /// How many times the request was sent.
    public let attempts: Int

    /// The body as text; what is no UTF-8 is repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Itself, or an error with the server's own words when the status means failure.
    public func requireSuccess() throws(HTTPError) -> HTTPResponse {
        guard !status.isSuccess else { return self }
        throw HTTPError(status: status, headers: headers, body: body, server: url.server)
    }
}

/// The version in which a server answered.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    public let major: Int
    public let minor: Int

    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    public static let http10 = HTTPVersion(major: 1, minor: 0)
    public static let http11 = HTTPVersion(major: 1, minor: 1)
    public static let http2 = HTTPVersion(major: 2, minor: 0)

    public var description: String { minor == 0 && major > 1 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
}
