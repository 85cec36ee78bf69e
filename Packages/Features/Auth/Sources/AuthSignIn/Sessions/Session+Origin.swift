public import HTTPClient

extension Session {
    /// The server of an address as `https://host:port`: what a session is bound to.
    public static func origin(of url: HTTPURL) -> String {
        "\(url.scheme.rawValue)://\(url.server)"
    }

    /// Whether a request to this address may carry the session's token.
    public func isFor(_ url: HTTPURL) -> Bool {
        origin == Self.origin(of: url)
    }
}
