import Capabilities

/// The hosts of `ProxyJump`, checked as `parse_jump` of OpenSSH checks them.
struct JumpHosts {
    /// The last of the hosts, which is the one next to the target.
    let last: JumpHost
    /// The hosts before it, as they were written.
    let others: String?

    /// Nil if one of the hosts is none.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        // A comment ends it anywhere, and so does a blank, which ssh means to do only at the end.
        var list = bytes.prefix { $0 != UInt8(ascii: "#") }
        if let blank = list.dropFirst().firstIndex(where: ASCII.isSpace) { list = list[..<blank] }
        let hosts = list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(JumpHost.init)
        guard hosts.allSatisfy({ $0 != nil }), let last = hosts.last, let last else { return nil }
        self.last = last
        let comma = list.lastIndex(of: UInt8(ascii: ","))
        others = comma.map { String(decoding: list[..<$0], as: UTF8.self) }
    }

    /// The hosts as `ssh -G` shows them.
    var text: String {
        let isAddress =
            NumericAddress.looksLikeOne(last.host) && !last.host.utf8.contains(UInt8(ascii: "%"))
            || last.host.utf8.contains(UInt8(ascii: ":"))
        let host = isAddress ? "[\(last.host)]" : last.host
        return (others.map { "\($0)," } ?? "") + (last.user.map { "\($0)@" } ?? "") + host
            + (last.port.map { ":\($0)" } ?? "")
    }
}

/// One host of `ProxyJump`: `[user@]host[:port]` or an address with `ssh://`.
struct JumpHost {
    let user: String?
    let host: String
    let port: Int?

    fileprivate init?(_ text: ArraySlice<UInt8>) {
        let scheme = Array("ssh://".utf8)
        if text.starts(with: scheme) {
            self.init(uri: text.dropFirst(scheme.count))
        } else {
            self.init(plain: text)
        }
    }

    private init?(plain text: ArraySlice<UInt8>) {
        var rest = text
        if let sign = text.lastIndex(of: UInt8(ascii: "@")) {
            guard sign > text.startIndex else { return nil }
            user = String(decoding: text[..<sign], as: UTF8.self)
            rest = text[(sign + 1)...]
        } else {
            user = nil
        }
        guard let (host, after, separator) = Self.host(rest), separator != UInt8(ascii: "/") else { return nil }
        self.host = host
        guard let after, !after.isEmpty else {
            port = nil
            return
        }
        guard let port = ConfigNumbers.port(String(decoding: after, as: UTF8.self)) else { return nil }
        self.port = port
    }

    private init?(uri text: ArraySlice<UInt8>) {
        var rest = text
        if let sign = text.firstIndex(of: UInt8(ascii: "@")) {
            // What follows a semicolon are parameters of the connection, which ssh ignores.
            let name = text[..<sign].prefix { $0 != UInt8(ascii: ";") }
            guard !name.isEmpty,
                let user = PercentEncoding.decode(String(decoding: name, as: UTF8.self)[...], plusIsSpace: true)
            else { return nil }
            self.user = user
            rest = text[(sign + 1)...]
        } else {
            user = nil
        }
        guard let (host, after, separator) = Self.host(rest), Self.isDomain(host) else { return nil }
        self.host = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        var path = after ?? []
        if separator == UInt8(ascii: ":"), !path.isEmpty {
            let digits = path.prefix { $0 != UInt8(ascii: "/") }
            guard let port = ConfigNumbers.port(String(decoding: digits, as: UTF8.self)) else { return nil }
            self.port = port
            path = path[digits.endIndex...].dropFirst()
        } else {
            port = nil
        }
        guard path.isEmpty else { return nil }
    }

    /// A host, possibly in brackets, and what follows its separator. Nil if there is none.
    private static func host(
        _ text: ArraySlice<UInt8>
    ) -> (host: String, rest: ArraySlice<UInt8>?, separator: UInt8?)? {
        var end = text.endIndex
        if text.first == UInt8(ascii: "[") {
            guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bracket + 1
        } else if let separator = text.firstIndex(where: { ":/".utf8.contains($0) }) {
            end = separator
        }
        guard end > text.startIndex else { return nil }
        var name = text[..<end]
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]"), name.count > 1 {
            name = name.dropFirst().dropLast()
        }
        let host = String(decoding: name, as: UTF8.self)
        guard end < text.endIndex else { return (host, nil, nil) }
        guard ":/".utf8.contains(text[end]) else { return nil }
        return (host, text[(end + 1)...], text[end])
    }

    /// As `valid_domain` of OpenSSH.
    private static func isDomain(_ host: String) -> Bool {
        func isWord(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }
        let bytes = Array(host.utf8)
        guard let first = bytes.first, isWord(first) else { return false }
        return bytes.allSatisfy { isWord($0) || ".-_".utf8.contains($0) }
            && !zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: ".") && $1 == $0 }
    }
}
