/// Lists the servers that the person has set up. Grants can restrict a caller to them.
public protocol ServerList: Sendable {
    /// In the form of a grant: `api.example.com:443`, or without a port for all ports of a host.
    var servers: [String] { get }
}

/// The form in which a grant names a server.
public enum ServerPattern {
    /// The pattern for an address as people write it, with `https` as the default scheme. Nil if the address contains
    /// anything that two programs could interpret differently.
    ///
    /// - Parameter anyPort: whether to cover all ports of the host.
    public static func of(_ address: String, anyPort: Bool = false) -> String? {
        guard let (host, port) = parts(address) else { return nil }
        let name = host.contains(":") ? "[\(host)]" : host
        return anyPort ? name : "\(name):\(port ?? 443)"
    }

    /// The server of an address that has a scheme or a port.
    static func address(of text: String) -> (host: String, port: Int)? {
        parts(text).flatMap { host, port in port.map { (host, $0) } }
    }

    /// The host, without brackets, and the port, if it is named or follows from the scheme.
    private static func parts(_ address: String) -> (host: String, port: Int?)? {
        var rest = Array(address.lowercased().utf8)[...]
        var port: Int?
        for (scheme, usual) in [("http://", 80), ("https://", 443)] where rest.starts(with: scheme.utf8) {
            rest = rest.dropFirst(scheme.utf8.count)
            port = usual
        }
        rest = rest.prefix { !"/?#".utf8.contains($0) }
        var host = rest
        let isSix = rest.first == UInt8(ascii: "[")
        if isSix {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = rest[rest.startIndex...end]
        } else if let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            host = rest[..<colon]
        }
        let tail = rest[host.endIndex...]
        if isSix { host = host.dropFirst().dropLast() }
        if !tail.isEmpty {
            let digits = String(decoding: tail.dropFirst(), as: UTF8.self)
            guard tail.first == UInt8(ascii: ":"), let number = Int(digits), 1...65535 ~= number else { return nil }
            port = number
        }
        let allowed = isSix ? "0123456789abcdef:." : "abcdefghijklmnopqrstuvwxyz0123456789.-_"
        guard !host.isEmpty, host.allSatisfy({ allowed.utf8.contains($0) }) else { return nil }
        return (String(decoding: host, as: UTF8.self), port)
    }
}

/// The protocol of a server, which determines how to sign in and how to ask its models.
public enum ServerKind: String, Choice, Hashable {
    /// A Kamiwaza platform: accounts, sessions, personal access tokens, deployments.
    case kamiwaza
    /// An agent gateway: one key, its own sessions and tools.
    case gateway
    /// Any other server that takes a key as `Authorization: Bearer` and has an OpenAI-compatible API.
    case openai
}
