public import HTTPCore

/// What is asked for to open a WebSocket.
public struct WebSocketRequest: Sendable {
    public var url: HTTPURL
    /// Further headers, such as `Authorization`.
    public var headers: HTTPHeaders
    /// In the order of preference.
    public var subprotocols: [String]
    /// The page that asks; programs need none, but some servers check it.
    public var origin: String?
    /// What the server may make this side keep.
    public var limits = WebSocketLimits()
    /// From the beginning to the server's agreement: name, TCP, proxy, TLS and the answer.
    public var deadline: Duration = .seconds(10)
    /// Bytes of the head of the answer.
    public var head = 64 << 10
    /// The path of a socket of this machine, instead of the address's host.
    public var unixSocket: String?

    public init(_ url: HTTPURL, headers: HTTPHeaders = [:], subprotocols: [String] = [], origin: String? = nil) {
        self.url = url
        self.headers = headers
        self.subprotocols = subprotocols
        self.origin = origin
    }

    /// Reads an address that begins with `ws://`, `wss://`, `http://` or `https://`.
    public init(
        _ text: String, headers: HTTPHeaders = [:], subprotocols: [String] = [], origin: String? = nil
    ) throws(HTTPError) {
        let scheme = text.prefix { $0 != ":" }
        let other: String? =
            switch scheme.lowercased() {
            case "ws": "http"
            case "wss": "https"
            default: nil
            }
        let url = try HTTPURL(other.map { $0 + text[scheme.endIndex...] } ?? text)
        self.init(url, headers: headers, subprotocols: subprotocols, origin: origin)
    }
}
