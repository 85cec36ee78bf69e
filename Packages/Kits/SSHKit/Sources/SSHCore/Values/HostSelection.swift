import Capabilities

/// Which hosts are meant, as a person writes it: addresses, and patterns for the names of the settings, with commas or spaces
/// between them. `web*,!web3,me@10.0.0.1:2222` means all names that begin with `web` but one, and another host.
public struct HostSelection: Sendable, Hashable {
    private let text: String
    private let wanted: [Part]
    private let excluded: [String]

    private enum Part: Sendable, Hashable {
        case address(SSHAddress)
        /// A pattern, with the user and port to use for what it matches.
        case pattern(String, user: String?)
    }

    /// Reads a text. Throws `.address` for a part that is neither an address nor a pattern.
    public init(_ text: String) throws(SSHError) {
        var (wanted, excluded): ([Part], [String]) = ([], [])
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if part.first == "!" {
                excluded.append(String(part.dropFirst()))
            } else if part.contains(where: { "*?".contains($0) }) {
                let sign = part.lastIndex(of: "@")
                let pattern = sign.map { part[part.index(after: $0)...] } ?? part
                wanted.append(.pattern(String(pattern), user: sign.map { String(part[..<$0]) }))
            } else {
                wanted.append(.address(try SSHAddress(String(part))))
            }
        }
        guard !wanted.isEmpty else {
            throw SSHError(.address, "no host is named; give a name, an address or a pattern")
        }
        (self.text, self.wanted, self.excluded) = (text, wanted, excluded)
    }

    /// The hosts, each once, in the order of the text and of the settings. Throws `.noMatch` if there is none.
    public func addresses(in config: SSHConfig) throws(SSHError) -> [SSHAddress] {
        let names = config.hosts.map(\.name)
        var found: [SSHAddress] = []
        for part in wanted {
            switch part {
            case .address(let address): found.append(address)
            case .pattern(let pattern, let user):
                for name in names where HostPattern.matches(name, pattern) {
                    found.append(try SSHAddress(user: user, host: name))
                }
            }
        }
        var seen: Set<SSHAddress> = []
        let hosts = found.filter { address in
            !excluded.contains { HostPattern.matches(address.host, $0) } && seen.insert(address).inserted
        }
        guard hosts.isEmpty else { return hosts }
        let known =
            names.isEmpty
            ? "your settings of SSH name no host"
            : "your settings of SSH name \(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? " and \(names.count - 8) more" : "")"
        throw SSHError(.noMatch, "no host matches '\(PlainText.escape(text, limit: 80))'; \(known)")
    }
}
