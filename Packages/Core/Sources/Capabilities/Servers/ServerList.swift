/// Says which servers the person has set up. Who may speak only to those is held to it.
public protocol ServerList: Sendable {
    /// As a grant names them: `api.example.com:443`, or without a port for all of a host.
    var servers: [String] { get }
}

/// How a grant names a server.
public enum ServerPattern {
    /// That of an address as people write it, `https` where no scheme is given; nil where there is anything in it about
    /// which two programs could disagree.
    ///
    /// - Parameter anyPort: whether all of the host is meant.
    public static func of(_ address: String, anyPort: Bool = false) -> String? {
        var rest = Substring(address.lowercased())
        var port = 443
        if rest.hasPrefix("http://") {
            port = 80
            rest = rest.dropFirst("http://".count)
        } else if rest.hasPrefix("https://") {
            rest = rest.dropFirst("https://".count)
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var host = rest
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = rest[...end]
        } else if let colon = rest.firstIndex(of: ":") {
            host = rest[..<colon]
        }
        let tail = rest[host.endIndex...]
        if !tail.isEmpty {
            guard tail.first == ":", let number = Int(tail.dropFirst()), 1...65535 ~= number else { return nil }
            port = number
        }
        let isName =
            !host.isEmpty
            && host.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
        let isSix =
            host.hasPrefix("[")
            && host.dropFirst().dropLast().utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte || UInt8(ascii: "0")...UInt8(ascii: ":") ~= byte
                    || byte == UInt8(ascii: ".")
            }
        guard isName || isSix else { return nil }
        return anyPort ? String(host) : "\(host):\(port)"
    }
}
