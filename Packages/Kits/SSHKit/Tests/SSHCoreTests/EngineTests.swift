import Capabilities
import CoreTesting
import FileKit
import Testing

@testable import SSHCore

struct EngineTests {
    private static func settings(
        _ text: String, for host: String = "web", ticket: Bool = false
    ) throws -> SSHSettings {
        let account = SSHAccount(
            userID: 1_000, name: "me", home: "/home/me", machine: "here.example",
            environment: ["SSH_AUTH_SOCK": "/run/agent", "OTHER": "/run/other"], hasKerberosTicket: ticket)
        let config = try SSHConfig(text: Array(text.utf8), named: "config", of: account)
        return try config.settings(for: SSHAddress(host))
    }

    /// The keywords and lines because of which only ssh can connect.
    private static func reasons(_ text: String, for host: String = "web", ticket: Bool = false) throws -> [String] {
        switch try settings(text, for: host, ticket: ticket).engine() {
        case .own: []
        case .system(let reasons): reasons.map { "\($0.keyword) \($0.place?.line ?? 0)" }
        case .refused(let reason): ["refused: \(reason)"]
        }
    }

    @Test(
        "A keyword that changes trust, route or identity leaves the connection to ssh, and its default does not",
        arguments: [
            ("ProxyJump a", "ProxyJump none"), ("ProxyCommand nc %h", "ProxyCommand none"),
            ("BindAddress 10.0.0.1", ""), ("BindInterface eth0", ""), ("CertificateFile ~/c", ""),
            ("KnownHostsCommand /bin/x", "KnownHostsCommand none"), ("RevokedHostKeys /r", "RevokedHostKeys none"),
            ("VerifyHostKeyDNS ask", "VerifyHostKeyDNS no"), ("CanonicalizeHostname always", "CanonicalizeHostname no"),
            ("CanonicalizePermittedCNAMEs *:*", "CanonicalizePermittedCNAMEs none"),
            ("HostbasedAuthentication yes", "HostbasedAuthentication no"),
            ("PKCS11Provider /p", "SmartcardDevice none"),
            ("SecurityKeyProvider /s", "SecurityKeyProvider internal"),
            ("NoHostAuthenticationForLocalhost yes", "NoHostAuthenticationForLocalhost false"),
            ("Ciphers aes256-gcm@openssh.com", ""), ("MACs hmac-sha2-256", ""), ("KexAlgorithms curve25519-sha256", ""),
            ("PubkeyAcceptedKeyTypes ssh-rsa", ""), ("RequiredRSASize 4096", ""), ("ProxyUseFdpass yes", ""),
            ("KbdInteractiveDevices pam", ""), ("CheckHostIP yes", "CheckHostIP no"), ("User %u", "User me"),
            ("Include ${HOME}/x", ""), ("Match exec true", "Match host other exec true"), ("Match final", "Match all"),
            ("Match localnetwork 10.0.0.0/8", "Match !host web localnetwork 10.0.0.0/8"), ("SomethingNew yes", "Tag x"),
            ("UseKeychain yes", "IgnoreUnknown UseKeychain\nUseKeychain yes"),
        ])
    func leavesToSSH(line: String, other: String) throws {
        let keyword = line.split(separator: " ").first.map { String($0) } ?? ""
        let found = try Self.reasons("# comment\n\(line)\n")
        #expect(found.count == 1 && found.first?.hasSuffix(" 2") == true, "\(keyword): \(found)")
        #expect(try Self.reasons(other + "\n") == [])
        // The first value counts, and lines for other hosts do not.
        if !other.isEmpty, !line.hasPrefix("Match"), !line.hasPrefix("Include"), !line.contains("New"),
            !line.contains("Use")
        {
            #expect(try Self.reasons("\(other)\n\(line)\n") == [])
            #expect(try Self.reasons("Host other\n\(line)\n") == [])
        }
    }

    @Test("What changes none of them is ours")
    func ownConnections() throws {
        let lines = """
            Host *
                SendEnv LANG LC_*
                HashKnownHosts yes
                GSSAPIAuthentication yes
                ForwardX11 no
                LocalForward 8080 localhost:80
                AddKeysToAgent confirm 5m
                UpdateHostKeys yes
                ControlPersist 10m
                TCPKeepAlive yes
                RemoteCommand tmux new -A
                SetEnv A=b "C=d e"
                Protocol 2
                ObscureKeystrokeTiming no
            """
        #expect(try Self.reasons(lines) == [])
        // Without a ticket ssh cannot authenticate with Kerberos either.
        #expect(try Self.reasons(lines, ticket: true) == ["GSSAPIAuthentication 4"])
        #expect(try Self.reasons("GSSAPIAuthentication no\n", ticket: true) == [])
    }

    @Test("All reasons are given, with file and line, and a refusal before them")
    func namesReasons() throws {
        #expect(
            try Self.reasons("Port 1\nHost web\n ProxyJump a\n Ciphers x\nHost *\n Ciphers y\n")
                == ["ProxyJump 3", "Ciphers 4"])
        guard case .system(let reasons) = try Self.settings("ProxyJump a").engine() else {
            return #expect(Bool(false), "a jump is ours")
        }
        #expect(reasons.first?.description == "ProxyJump (config line 1) leads through another host")
        let refused = "RefuseConnection \"ask the operators\u{7}\"\nProxyJump a\n"
        #expect(
            try Self.reasons(refused)
                == ["refused: RefuseConnection (config line 1) refuses it: \"ask the operators\\u{7}\""])
    }

    @Test("Lines that are not UTF-8 are never taken for other ones")
    func otherEncodings() throws {
        let account = try SSHAccount.current(environment: [:])
        let text = Array("# Z".utf8) + [0xFC] + Array("rich\nHost web\nUser m".utf8) + [0xFC] + Array("ller\n".utf8)
        let config = try SSHConfig(text: text, named: "config", of: account)
        guard case .system(let reasons) = try config.settings(for: SSHAddress("web")).engine() else {
            return #expect(Bool(false), "a name in Latin-1 is ours")
        }
        #expect(reasons.map(\.place?.line) == [3])
        #expect(try config.settings(for: SSHAddress("other")).engine() == .own)
    }

    @Test("A certificate beside a key is an identity that only ssh uses")
    func certificates() throws {
        try TemporaryDirectory.runNow { folder in
            try write(["key": "", "key-cert.pub": "", "plain": ""], into: folder)
            #expect(try Self.reasons("IdentityFile \(folder)/plain\n") == [])
            #expect(
                try Self.reasons("IdentityFile \(folder)/plain\nIdentityFile \(folder)/key\n") == ["IdentityFile 0"])
        }
    }

    @Test("The agent and the files of keys are those that ssh uses")
    func identities() throws {
        #expect(try Self.settings("").agentSocket == "/run/agent")
        #expect(try Self.settings("IdentityAgent SSH_AUTH_SOCK").agentSocket == "/run/agent")
        #expect(try Self.settings("IdentityAgent none").agentSocket == nil)
        #expect(try Self.settings("IdentityAgent $OTHER").agentSocket == "/run/other")
        #expect(try Self.settings("IdentityAgent $MISSING").agentSocket == nil)
        #expect(try Self.settings("IdentityAgent ~/%h.sock").agentSocket == "/home/me/web.sock")
        let keys = "IdentityFile ~/.ssh/%h\nIdentityFile none\nIdentityFile ${OTHER}/%%\n"
        #expect(try Self.settings(keys).identityPaths() == ["/home/me/.ssh/web", "/run/other/%"])
        let broken = try Self.settings("IdentityFile ${MISSING}\n")
        #expect(failure { () throws(SSHError) in try broken.identityPaths() }?.kind == .configuration)
        #expect(try Self.settings("").identityPaths().contains("/home/me/.ssh/id_ed25519"))
    }

    @Test("Names of hosts are listed once, with their first line, without patterns")
    func listsHosts() throws {
        try TemporaryDirectory.runNow { folder in
            try write(
                [
                    "config":
                        "Host web db *.x !no\nInclude \(folder)/more\nHost web last # not this\nHost ::1 \"a b\" x$y\n",
                    "more": "\nHost inner db\n",
                ], into: folder)
            let config = try SSHConfig(file: "\(folder)/config", of: try SSHAccount.current(environment: [:]))
            #expect(
                config.hosts.map { "\($0.name) \(PathParts($0.place.file).name):\($0.place.line)" } == [
                    "web config:1", "db config:1", "inner more:2", "last config:3", "::1 config:4",
                ])
        }
    }
}
