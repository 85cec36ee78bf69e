import CoreTesting
import Testing

@testable import SSHCore

struct KnownHostsTests {
    /// Has ssh-keygen list the lines about a name, with fingerprints.
    static func keygen(_ name: String, _ file: String) -> [String] { ["ssh-keygen", "-l", "-F", name, "-f", file] }

    /// The lines that ssh-keygen has listed: number, marker, type, fingerprint.
    static func found(_ outcome: OpenSSH.Outcome) -> [String] {
        var lines: [String] = []
        for line in outcome.text.split(separator: "\n") {
            if let place = line.firstMatch(of: #/^# Host .* found: line (\d+) ?(\w*)/#) {
                lines.append("\(place.output.1) \(place.output.2)")
            } else if let key = line.firstMatch(of: #/ (\S+) (SHA256:\S+)/#), let last = lines.popLast() {
                lines.append("\(last) \(key.output.1) \(key.output.2)")
            }
        }
        return lines
    }

    /// The same of the lines that we keep.
    static func found(_ lines: [KnownHostLine], hasPort: Bool) -> [String] {
        lines.filter { $0.hasPort == hasPort }.map { line in
            let marker =
                switch line.marker {
                case .none: ""
                case .authority: "CA"
                case .revoked: "REVOKED"
                }
            return "\(line.place.line) \(marker) \(line.key.type) \(line.key.fingerprint)"
        }
    }

    /// Has ssh connect to the server under the name of a host.
    private static func connection(_ one: KnownHostsCase, _ user: String, _ global: String, _ server: TestServer)
        -> [String]
    {
        var options = [
            "BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=\(user)",
            "GlobalKnownHostsFile=\(global)",
            "IdentityFile=none", "PreferredAuthentications=none", "KexAlgorithms=curve25519-sha256",
            "ProxyCommand=\(server.command)", "Port=\(one.port)", "User=nobody",
        ]
        if let alias = one.alias { options.append("HostKeyAlias=\(alias)") }
        return ["ssh", "-v", "-F", "none"] + options.flatMap { ["-o", $0] } + ["--", one.host, "true"]
    }

    /// What ssh has made of the server's key.
    private static func verdict(_ text: String) -> KnownHostsCase.Verdict? {
        func line(_ pattern: Regex<(Substring, Substring)>) -> Int {
            text.firstMatch(of: pattern).flatMap { Int($0.output.1) } ?? 0
        }
        if text.contains("REVOKED HOST KEY") { return .revoked(0) }
        if text.contains("IDENTIFICATION HAS CHANGED") { return .changed(line(#/Offending \S+ key in \S+:(\d+)/#)) }
        if text.contains("host key is known for") { return .unknown }
        guard text.contains("Authentications that can continue") else { return nil }
        return .known(line(#/Found key in \S+:(\d+)/#))
    }

    /// The verdict without what ssh does not tell.
    private static func comparable(_ one: KnownHostsCase) -> KnownHostsCase.Verdict {
        switch one.theirs ?? one.expected {
        case .revoked: .revoked(0)
        case .changed(let line), .otherTypes(let line): .changed(one.offending ?? line)
        case let other: other
        }
    }

    private static func short(_ verdict: HostKeyVerdict) -> KnownHostsCase.Verdict {
        switch verdict {
        case .known(let place): .known(place.line)
        case .unknown: .unknown
        case .otherTypes(_, let place): .otherTypes(place.line)
        case .changed(let place): .changed(place.line)
        case .revoked(let place): .revoked(place.line)
        }
    }

    /// Compares everything about one case. Nil if it agrees.
    private static func problem(
        _ one: KnownHostsCase, _ user: String, _ global: String, _ key: HostKey, said: OpenSSH.Outcome?,
        listed: [OpenSSH.Outcome]
    ) throws -> String? {
        let name = KnownHostName(host: one.host, port: one.port, alias: one.alias)
        let entries = try KnownHosts(user: [user], global: [global]).entries(for: name)
        let verdict = short(entries.verdict(on: key))
        guard verdict == one.expected else { return "we say \(verdict)" }
        if let said, Self.verdict(said.text) != comparable(one) { return "ssh says: \(said.text)" }
        // Lines that we obey and ssh does not, and certificates, of which ssh-keygen shows the key inside.
        guard one.theirs == nil, !one.text.contains("{X}") else { return nil }
        let mine = entries.lines.filter { $0.place.file == user }
        let theirs = found(listed[0])
        guard found(mine, hasPort: true) == theirs else {
            return "ssh-keygen finds \(theirs), we \(found(mine, hasPort: true))"
        }
        guard name.portless != nil else { return nil }
        let others = found(listed[1]).filter { !theirs.contains($0) }
        return found(mine, hasPort: false) == others ? nil : "without the port ssh-keygen finds \(others)"
    }

    @Test("Verdicts are those of ssh, and lines those that ssh-keygen finds")
    func agreesWithSSH() async throws {
        let ssh = try OpenSSH()
        try await TemporaryDirectory.run { folder in
            let server = try await TestServer(in: folder, ssh)
            let keys = TestKeys(own: server.key.text)
            let judged = KnownHostsCase.judged
            #expect(judged.count >= 60)
            let cases = judged + KnownHostsCase.found
            func files(_ index: Int) -> (user: String, global: String) {
                ("\(folder)/user-\(index)", "\(folder)/global-\(index)")
            }
            var commands: [[String]] = []
            for (index, one) in cases.enumerated() {
                try write(["user-\(index)": keys.filled(one.text)], into: folder)
                if let text = one.global { try write(["global-\(index)": keys.filled(text)], into: folder) }
                let name = KnownHostName(host: one.host, port: one.port, alias: one.alias)
                let (user, global) = files(index)
                commands.append(Self.keygen(name.description, user))
                commands.append(name.portless.map { Self.keygen($0, user) } ?? ["true"])
                commands.append(index < judged.count ? Self.connection(one, user, global, server) : ["true"])
            }
            let outcomes = try await ssh.run(commands)
            for (index, one) in cases.enumerated() {
                let (user, global) = files(index)
                let problem = try Self.problem(
                    one, user, global, server.key, said: index < judged.count ? outcomes[3 * index + 2] : nil,
                    listed: Array(outcomes[(3 * index)...(3 * index + 1)]))
                let text = one.text.prefix(300).replacing("\0", with: "\\0")
                if let problem { Issue.record("\(text) for \(one.host):\(one.port)\n\(problem)") }
            }
        }
    }
}
