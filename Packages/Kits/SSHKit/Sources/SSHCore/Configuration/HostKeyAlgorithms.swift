/// The names that `HostKeyAlgorithms` may have, in the order of OpenSSH 9.2.
enum HostKeyAlgorithms {
    /// What `ssh -Q HostKeyAlgorithms` lists.
    private static let all = [
        "ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com", "sk-ssh-ed25519@openssh.com",
        "sk-ssh-ed25519-cert-v01@openssh.com", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp521",
        "ecdsa-sha2-nistp521-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
        "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "ssh-dss",
        "ssh-dss-cert-v01@openssh.com", "ssh-rsa", "ssh-rsa-cert-v01@openssh.com", "rsa-sha2-256",
        "rsa-sha2-256-cert-v01@openssh.com", "rsa-sha2-512", "rsa-sha2-512-cert-v01@openssh.com",
    ]

    /// What ssh offers without the keyword.
    static let standard = [
        "ssh-ed25519-cert-v01@openssh.com", "ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp521-cert-v01@openssh.com",
        "sk-ssh-ed25519-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "rsa-sha2-512-cert-v01@openssh.com", "rsa-sha2-256-cert-v01@openssh.com", "ssh-ed25519",
        "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com", "rsa-sha2-512", "rsa-sha2-256",
    ]

    /// The names of types in messages, which ssh accepts in place of the types, but which then match nothing.
    private static let short: Set<String> = ["ed25519", "ed25519-sk", "ecdsa", "ecdsa-sk", "rsa", "dsa"]

    /// Whether ssh accepts a value: every part is a name, or a pattern that matches one.
    static func isValid(_ value: String) -> Bool {
        if value.hasPrefix("-") { return true }
        let names = value.hasPrefix("+") || value.hasPrefix("^") ? value.dropFirst() : value[...]
        guard !names.isEmpty else { return false }
        // What follows an empty part is not read.
        return names.split(separator: ",", omittingEmptySubsequences: false).prefix { !$0.isEmpty }.allSatisfy { name in
            short.contains(ASCII.lowercased(String(name)))
                || all.contains { algorithm in
                    HostPattern.verdict(on: Array(algorithm.utf8)[...], of: Array(name.utf8)[...]) != .none
                }
        }
    }

    /// The algorithms that a value stands for, together with the standard ones after `+`, `-` and `^`. Nil if none is left.
    static func named(by value: String) -> [String]? {
        if value.hasPrefix("-") {
            return standard.filter { !HostPattern.list(String(value.dropFirst()), matches: $0) }
        }
        let own = value.split(separator: ",").map(String.init)
        let parts: [String] =
            switch value.first {
            case "+": standard + value.dropFirst().split(separator: ",").map(String.init)
            case "^": value.dropFirst().split(separator: ",").map(String.init) + standard
            default: own
            }
        // "negated matches are not supported here" (kex.c).
        guard !parts.contains(where: { $0.hasPrefix("!") }) else { return nil }
        var algorithms: [String] = []
        for part in parts {
            algorithms += all.filter { HostPattern.list(part, matches: $0) && !algorithms.contains($0) }
        }
        return algorithms.isEmpty ? nil : algorithms
    }
}
