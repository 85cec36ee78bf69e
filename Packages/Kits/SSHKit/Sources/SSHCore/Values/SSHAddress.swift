import Capabilities

/// A host as people name it: `web`, `me@web:2222`, `[::1]:2222`, `ssh://me@web:2222`.
///
///     let address = try SSHAddress("me@[::1]:2222")
///     address.description                                 // me@[::1]:2222
public struct SSHAddress: Sendable, Hashable, CustomStringConvertible {
    /// The user there. Nil for the one of the settings.
    public let user: String?
    /// The name or address that the settings are asked for, as it was written.
    public let host: String
    /// Nil for the one of the settings.
    public let port: Int?

    /// Reads an address. Throws `.address` with the reason.
    public init(_ text: String) throws(SSHError) {
        guard text.utf8.count <= 1_024 else {
            throw SSHError(.address, "an address of \(text.utf8.count) bytes is too long for a host")
        }
        var rest = text[...]
        let isURI = rest.hasPrefix("ssh://")
        if isURI { rest = rest.dropFirst("ssh://".count) }
        if isURI, rest.utf8.last == UInt8(ascii: "/") { rest = rest.dropLast() }
        var user: String?
        // A user may contain the sign, and a host never does.
        if let sign = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            user = try Self.user(rest[..<sign], isURI: isURI, of: text)
            rest = rest[rest.utf8.index(after: sign)...]
        }
        let (host, port) = try Self.hostAndPort(rest, of: text)
        try self.init(user: user, host: host, port: port)
    }

    /// Checks the parts. Throws `.address` if one is not what ssh accepts in its arguments.
    public init(user: String? = nil, host: String, port: Int? = nil) throws(SSHError) {
        guard Self.isHost(host) else {
            throw SSHError(.address, "'\(PlainText.escape(host, limit: 80))' cannot be the name of a host")
        }
        if let user, !Self.isUser(user) {
            throw SSHError(.address, "'\(PlainText.escape(user, limit: 80))' cannot be the name of a user")
        }
        if let port, !(1...65_535).contains(port) {
            throw SSHError(.address, "\(port) is not a port; ports are numbers from 1 to 65535")
        }
        (self.user, self.host, self.port) = (user, host, port)
    }

    /// The text that reads as this address.
    public var description: String {
        let shown = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return (user.map { "\($0)@" } ?? "") + shown + (port.map { ":\($0)" } ?? "")
    }

    // MARK: Parts

    private static func user(_ text: Substring, isURI: Bool, of whole: String) throws(SSHError) -> String {
        guard isURI else { return String(text) }
        // What follows a semicolon are parameters of the connection, which ssh ignores too.
        let name = text.prefix { $0 != ";" }
        guard let user = PercentEncoding.decode(name) else {
            throw invalid(whole, "the name of its user has a malformed escape")
        }
        return user
    }

    private static func hostAndPort(_ text: Substring, of whole: String) throws(SSHError) -> (String, Int?) {
        let colon = UInt8(ascii: ":")
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else {
                throw invalid(whole, "a bracket is not closed")
            }
            let host = String(text[text.utf8.index(after: text.startIndex)..<end])
            let rest = text[text.utf8.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.utf8.first == colon else { throw invalid(whole, "a port begins with a colon") }
            return (host, try port(rest.dropFirst(), of: whole))
        }
        // With two colons it is an address of IPv6.
        guard let first = text.utf8.firstIndex(of: colon), text.utf8.lastIndex(of: colon) == first else {
            return (String(text), nil)
        }
        return (String(text[..<first]), try port(text[text.utf8.index(after: first)...], of: whole))
    }

    private static func port(_ text: Substring, of whole: String) throws(SSHError) -> Int {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, let port = Int(text), (1...65_535).contains(port) else {
            throw invalid(whole, "ports are numbers from 1 to 65535")
        }
        return port
    }

    private static func invalid(_ text: String, _ reason: String) -> SSHError {
        SSHError(.address, "'\(PlainText.escape(text, limit: 120))' names no host: \(reason)")
    }

    // MARK: What ssh accepts

    /// As `ssh_valid_hostname`: nothing that a shell of a ProxyCommand would act on, and no option. Brackets and `@` have
    /// a meaning in addresses and in files of known hosts.
    static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte != 0x7F && !"'`\"$\\;&<>|(){},[]@/?#*!".utf8.contains(byte)
            }
    }

    /// As `ssh_valid_ruser`, and nothing that reads as another address.
    private static func isUser(_ text: String) -> Bool {
        guard !text.hasPrefix("ssh://") else { return false }
        let bytes = Array(text.utf8)
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 255 else { return false }
        guard first != UInt8(ascii: "-"), last != UInt8(ascii: "\\") else { return false }
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte < 0x20 || byte == 0x7F || "'`\";&<>|(){}".utf8.contains(byte) { return false }
            return byte != 0x20 || index + 1 == bytes.count || bytes[index + 1] != UInt8(ascii: "-")
        }
    }
}
