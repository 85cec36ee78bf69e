/// A keyword of ssh's settings.
struct Keyword: Sendable {
    /// What a keyword means to us.
    enum Use: Sendable, Hashable {
        /// Its value is in `SSHSettings`, or decides which lines apply.
        case own
        /// It changes neither trust, route nor identity of a connection that runs commands and moves files.
        case harmless
        /// It changes one of them, so ssh makes the connection, unless its value is one of these.
        case system(unless: [String])
        /// It matters only with a ticket of Kerberos, which ssh uses and we cannot.
        case kerberos
        /// The connection is refused.
        case refusal
        /// ssh ignores it as well.
        case obsolete
    }

    /// What is checked of a value that we do not use.
    enum Shape: Sendable, Hashable {
        case flag, number, time, word
        /// A word, and possibly a second one.
        case pair
        /// Any words.
        case words
        /// All of the line.
        case line
    }

    /// As people write it.
    let name: String
    let use: Use
    let shape: Shape

    private init(_ name: String, _ use: Use, _ shape: Shape) {
        (self.name, self.use, self.shape) = (name, use, shape)
    }

    /// The keyword with a name in small letters. Nil for one that neither we nor any ssh that we know have.
    static func named(_ name: String) -> Keyword? {
        table[aliases[name] ?? name]
    }

    /// Older names that ssh still reads.
    private static let aliases = [
        "challengeresponseauthentication": "kbdinteractiveauthentication",
        "skeyauthentication": "kbdinteractiveauthentication", "tisauthentication": "kbdinteractiveauthentication",
        "dsaauthentication": "pubkeyauthentication", "identityfile2": "identityfile", "keepalive": "tcpkeepalive",
        "smartcarddevice": "pkcs11provider", "hostbasedkeytypes": "hostbasedacceptedalgorithms",
        "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms",
        // Only Debian's ssh has these.
        "protocolkeepalives": "serveraliveinterval", "setuptimeout": "serveraliveinterval",
    ]

    private static let table: [String: Keyword] = {
        var table: [String: Keyword] = [:]
        for (use, shape, names) in lists {
            for name in names.split(separator: " ") {
                table[ASCII.lowercased(String(name))] = Keyword(String(name), use, shape)
            }
        }
        return table
    }()

    private static let no = Use.system(unless: ["no", "false"])
    private static let none = Use.system(unless: ["none"])
    private static let never = Use.system(unless: [])

    private static let lists: [(Use, Shape, String)] = [
        (
            .own, .words,
            """
            Host Match Include IgnoreUnknown HostName Port User IdentityFile IdentitiesOnly IdentityAgent \
            UserKnownHostsFile GlobalKnownHostsFile StrictHostKeyChecking HashKnownHosts HostKeyAlias HostKeyAlgorithms \
            PreferredAuthentications PasswordAuthentication KbdInteractiveAuthentication PubkeyAuthentication \
            ConnectTimeout ServerAliveInterval ServerAliveCountMax AddressFamily ProxyJump ProxyCommand Compression \
            ForwardAgent BatchMode NumberOfPasswordPrompts LogLevel RekeyLimit CheckHostIP ControlMaster ControlPath
            """
        ),
        (
            .harmless, .flag,
            """
            CanonicalizeFallbackLocal ClearAllForwardings EnableEscapeCommandline EnableSSHKeysign \
            ExitOnForwardFailure ForkAfterAuthentication ForwardX11 ForwardX11Trusted GatewayPorts PermitLocalCommand \
            StdinNull StreamLocalBindUnlink TCPKeepAlive VisualHostKey
            """
        ),
        (.harmless, .number, "CanonicalizeMaxDots ConnectionAttempts"),
        (.harmless, .time, "ForwardX11Timeout"),
        (
            .harmless, .word,
            """
            CASignatureAlgorithms ControlPersist DynamicForward EscapeChar FingerprintHash HostbasedAcceptedAlgorithms \
            ObscureKeystrokeTiming RequestTTY SessionType StreamLocalBindMask SyslogFacility Tag Tunnel TunnelDevice \
            UpdateHostKeys XAuthLocation
            """
        ),
        (
            .harmless, .words,
            "CanonicalDomains ChannelTimeout LogVerbose PermitRemoteOpen SendEnv SetEnv WarnWeakCrypto"
        ),
        (.harmless, .pair, "AddKeysToAgent IPQoS LocalForward RemoteForward"),
        (.harmless, .line, "LocalCommand RemoteCommand VersionAddendum"),
        (no, .flag, "HostbasedAuthentication NoHostAuthenticationForLocalhost ProxyUseFdpass"),
        (no, .word, "CanonicalizeHostname VerifyHostKeyDNS"),
        (none, .word, "PKCS11Provider RevokedHostKeys"),
        (none, .words, "CanonicalizePermittedCNAMEs"),
        (none, .line, "KnownHostsCommand"),
        (.system(unless: ["internal", "none"]), .word, "SecurityKeyProvider"),
        (
            never, .word,
            "BindAddress BindInterface CertificateFile Ciphers KbdInteractiveDevices KexAlgorithms MACs PubkeyAcceptedAlgorithms"
        ),
        (never, .number, "RequiredRSASize"),
        (.kerberos, .flag, "GSSAPIAuthentication GSSAPIKeyExchange"),
        (.harmless, .flag, "GSSAPIDelegateCredentials GSSAPITrustDns GSSAPIRenewalForcesRekey"),
        (.harmless, .word, "GSSAPIClientIdentity GSSAPIServerIdentity GSSAPIKexAlgorithms"),
        (.refusal, .line, "RefuseConnection"),
        (
            .obsolete, .line,
            """
            Protocol Cipher FallBackToRsh GlobalKnownHostsFile2 RhostsAuthentication UserKnownHostsFile2 UseRoaming UseRsh \
            UsePrivilegedPort AFSTokenPassing KerberosAuthentication KerberosTGTPassing RSAAuthentication \
            RhostsRSAAuthentication CompressionLevel
            """
        ),
    ]
}
