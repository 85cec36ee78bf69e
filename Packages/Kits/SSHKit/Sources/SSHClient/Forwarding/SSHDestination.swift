import Capabilities
public import SSHCore

/// An address that a host connects to: `localhost:5432`, as the host understands it.
public struct SSHDestination: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address.
    public let host: String
    /// A port there.
    public let port: Int

    /// Checks both. Throws `.address`.
    public init(host: String, port: Int) throws(SSHError) {
        let checked = try SSHAddress(host: host, port: port)
        (self.host, self.port) = (checked.host, port)
    }

    /// Reads `host:port`, `[::1]:port`, or a port of the host itself.
    public init(_ text: String) throws(SSHError) {
        if let port = Int(text) {
            try self.init(host: "localhost", port: port)
            return
        }
        let address = try SSHAddress(text)
        guard let port = address.port, address.user == nil else {
            throw SSHError(
                .address, "'\(PlainText.escape(text, limit: 80))' is no address with a port, such as localhost:5432")
        }
        try self.init(host: address.host, port: port)
    }

    public var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// What a request to connect there says.
    func message(from origin: String, port originPort: Int) -> [UInt8] {
        func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        func text(_ text: String) -> [UInt8] { word(text.utf8.count) + Array(text.utf8) }
        return text(host) + word(port) + text(origin) + word(originPort)
    }
}
