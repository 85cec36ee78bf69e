/// What files of known hosts say about one host.
public struct KnownHostEntries: Sendable {
    /// The name that was looked for.
    public let name: KnownHostName
    /// What could not be read, and may be about the host.
    public let problems: [KnownHostsProblem]
    let lines: [KnownHostLine]

    init(name: KnownHostName, lines: [KnownHostLine], problems: [KnownHostsProblem]) {
        (self.name, self.lines, self.problems) = (name, lines, problems)
    }

    /// The types of keys that are known for the host and not revoked, each once, in the order of the lines. A handshake
    /// that agrees on one of them gets a key that can be compared.
    public var types: [KeyType] {
        var types: [KeyType] = []
        for line in lines(.none, hasPort: true) where revocation(of: line.key) == nil {
            if !types.contains(line.key.type) { types.append(line.key.type) }
        }
        return types
    }

    /// The first line with a certificate authority for the host. Then ssh accepts keys that the authority has signed, and
    /// only ssh can check them.
    public var authority: SSHFilePlace? { lines(.authority, hasPort: true).first?.place }

    /// Algorithms with those in front for which the host has a known key, or an authority, as ssh offers them.
    public func ordered(_ algorithms: [String]) -> [String] {
        let known = types
        func isKnown(_ algorithm: String) -> Bool {
            guard let type = KeyType(named: algorithm) else { return false }
            if type.isCertificate, authority != nil { return true }
            return known.contains { $0 == type || $0.certificate == type }
        }
        // "If a plain public key exists that matches the type of the best preference HostkeyAlgorithms, then use the
        // whole list as is." (sshconnect2.c)
        if let best = algorithms.first, let type = KeyType(named: best),
            known.contains(where: {
                $0.certificate == type.certificate
            })
        {
            return algorithms
        }
        return algorithms.filter(isKnown) + algorithms.filter { !isKnown($0) }
    }

    /// The verdict on the key that the host has sent and proved to have.
    ///
    /// It differs from ssh's in two ways. ssh calls a key changed as well if only keys of other types are known; here that
    /// is a verdict of its own, which is refused as well. And a key that is revoked for the host's name is revoked for
    /// each of its ports, where ssh would ask.
    public func verdict(on key: HostKey) -> HostKeyVerdict {
        if let revoked = revocation(of: key) { return .revoked(revoked) }
        let keys = lines(.none, hasPort: true)
        if let same = keys.first(where: { $0.key == key }) { return .known(same.place) }
        if let other = keys.last(where: { $0.key.type == key.type }) { return .changed(other.place) }
        if let other = keys.last { return .otherTypes(types, other.place) }
        // "checking without port identifier" (sshconnect.c): only an equal key counts there.
        if let same = lines(.none, hasPort: false).first(where: { $0.key == key }) { return .known(same.place) }
        return .unknown
    }

    /// The line that revokes a key.
    private func revocation(of key: HostKey) -> SSHFilePlace? {
        lines.first { $0.marker == .revoked && $0.key == key }?.place
    }

    private func lines(_ marker: KnownHostLine.Marker, hasPort: Bool) -> [KnownHostLine] {
        lines.filter { $0.marker == marker && $0.hasPort == hasPort }
    }
}

/// What files of known hosts say about a key of a host.
public enum HostKeyVerdict: Sendable, Hashable {
    /// A line has this key for the host.
    case known(SSHFilePlace)
    /// No line is about the host. A person may accept the key after comparing its fingerprint.
    case unknown
    /// Only keys of other types are known, the last of them in this line. The host lacks those that it had, which is as
    /// suspicious as a changed key: nobody is asked.
    case otherTypes([KeyType], SSHFilePlace)
    /// A line has another key of this type for the host. Nobody is asked.
    case changed(SSHFilePlace)
    /// A line says that this key must not be accepted, whatever others say. Nobody is asked.
    case revoked(SSHFilePlace)

    /// Whether the key is accepted without a question.
    public var isAccepted: Bool { if case .known = self { true } else { false } }
}
