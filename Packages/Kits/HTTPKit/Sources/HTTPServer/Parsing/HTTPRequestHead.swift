public import HTTPCore

/// What a client said before the body: the request line and the header lines.
public struct HTTPRequestHead: Sendable {
    public let method: HTTPMethod
    /// What was asked for, as it came.
    public let target: String
    /// The path with its percent signs, beginning with a slash; `*` for the server as a whole.
    public let path: String
    /// What follows the question mark, as it came.
    public let query: String?
    public let version: Version
    public let headers: HTTPHeaders
    /// The host and port that the client believes to talk to; nil only for HTTP/1.0.
    public let host: String?

    let body: Body
    /// Whether the client waits for a word before it sends the body.
    let expectsContinue: Bool
    /// Whether the client would send another request after this one.
    let keepsAlive: Bool

    /// The two versions that are spoken here.
    public enum Version: Sendable, Hashable {
        case http10, http11
    }

    /// How the end of the body is found.
    enum Body: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
    }
}
