import Capabilities

extension GivenSettings {
    /// The keys that ssh tries if no line names one.
    private static let standardIdentities = [
        "id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "id_dsa",
    ].map { "~/.ssh/\($0)" }

    /// The settings for a host, with defaults for what was not given, and with names and paths expanded, in ssh's order.
    func settings(for address: SSHAddress, _ account: SSHAccount) throws(SSHError) -> SSHSettings {
        let family = addressFamily ?? .any
        let name: String
        do throws(ConfigTokens.Problem) {
            name =
                try hostName.map { given throws(ConfigTokens.Problem) in
                    try ConfigTokens.expanding(hostName: given, of: address.host)
                } ?? address.host
        } catch {
            throw Self.unexpanded("HostName", hostName, error)
        }
        let connected = NumericAddress.connected(name, family: family)
        try refuseLoop(through: jump, to: connected, port ?? 22, user ?? account.name)
        let alias = hostKeyAlias.map { ASCII.lowercased($0) }
        let tokens = ConfigTokens(
            given: address.host, host: connected, port: port ?? 22, user: user ?? account.name, alias: alias,
            account: account)
        var (socket, agent, forwarded) = (
            String?.none, String?.none, forwardsAgent == true ? SSHSettings.ForwardedAgent.standard : .none
        )
        if let path = controlPath, ASCII.lowercased(path) != "none" {
            socket = try expanded("ControlPath", path, tokens)
        }
        if let path = identityAgent { agent = try expanded("IdentityAgent", path, tokens) }
        if let path = agentSocket { forwarded = .socket(try expanded("ForwardAgent", path, tokens)) }
        var users: [String] = []
        for file in Self.files(userKnownHostsFiles, ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"]) {
            users.append(try expanded("UserKnownHostsFile", file, tokens))
        }
        let batch = isBatch ?? false
        return SSHSettings(
            address: address, hostName: connected, user: user ?? account.name, port: port ?? 22,
            addressFamily: family,
            identityFiles: identities.isEmpty ? Self.standardIdentities : identities.map(\.path),
            identitiesOnly: identitiesOnly ?? false, identityAgent: agent,
            preferredAuthentications: preferredAuthentications,
            passwordAuthentication: passwordAuthentication ?? true,
            keyboardInteractiveAuthentication: keyboardInteractiveAuthentication ?? true,
            publicKeyAuthentication: publicKeyAuthentication ?? .yes, passwordPrompts: passwordPrompts ?? 3,
            isBatch: batch, forwardedAgent: forwarded, userKnownHostsFiles: users,
            globalKnownHostsFiles: Self.files(
                globalKnownHostsFiles, ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]),
            strictHostKeyChecking: strictHostKeyChecking ?? .ask, hashesKnownHosts: hashesKnownHosts ?? false,
            hostKeyAlias: alias, checksHostAddress: checksHostAddress ?? false,
            hostKeyAlgorithms: try algorithms(),
            // "If the default or HostkeyAlgorithms begins with + or -" (sshconnect2.c).
            prefersKnownTypes: hostKeyAlgorithms.map { $0.hasPrefix("+") || $0.hasPrefix("-") } ?? true,
            proxyJump: jumpText, proxyCommand: directCommand, connectTimeout: connectTimeout,
            // Debian's ssh finds out in batch mode that a host is gone.
            serverAliveInterval: serverAliveInterval ?? (batch ? 300 : 0),
            serverAliveCountMax: serverAliveCountMax ?? 3, compression: compression ?? false,
            rekeyBytes: rekeyBytes ?? 0, rekeySeconds: rekeySeconds ?? 0, controlMaster: controlMaster ?? .no,
            controlPath: socket, logLevel: logLevel ?? "INFO", decision: decision, tokens: tokens,
            account: SSHSettings.AccountFacts(
                agent: account.environment["SSH_AUTH_SOCK"], environment: account.environment))
    }

    /// A host is not reached through itself.
    private func refuseLoop(through jump: Jump?, to host: String, _ port: Int, _ user: String) throws(SSHError) {
        guard case .through(let hosts) = jump, hosts.last.host == host, hosts.last.port ?? 22 == port,
            hosts.last.user ?? user == user
        else { return }
        throw SSHError(.configuration, "ProxyJump leads to \(PlainText.escape(host)) through itself")
    }

    private var decision: SSHEngine {
        if let refusal { return .refused(refusal) }
        return reasons.isEmpty ? .own : .system(reasons)
    }

    private var jumpText: String? {
        if case .through(let hosts) = jump { hosts.text } else { nil }
    }

    private var directCommand: String? {
        guard let proxyCommand, ASCII.lowercased(proxyCommand) != "none" else { return nil }
        return proxyCommand
    }

    private func algorithms() throws(SSHError) -> [String] {
        guard let value = hostKeyAlgorithms else { return HostKeyAlgorithms.standard }
        guard let algorithms = HostKeyAlgorithms.named(by: value) else {
            throw SSHError(
                .configuration, "HostKeyAlgorithms '\(PlainText.escape(value, limit: 200))' leaves no algorithm")
        }
        return algorithms
    }

    private static func files(_ given: [String]?, _ standard: [String]) -> [String] {
        guard let given else { return standard }
        return given.first.map { ASCII.lowercased($0) } == "none" ? [] : given
    }

    private func expanded(_ keyword: String, _ text: String, _ tokens: ConfigTokens) throws(SSHError) -> String {
        do throws(ConfigTokens.Problem) { return try tokens.expandingAll(text) } catch {
            throw Self.unexpanded(keyword, text, error)
        }
    }

    private static func unexpanded(_ keyword: String, _ text: String?, _ problem: ConfigTokens.Problem) -> SSHError {
        SSHError(
            .configuration,
            "\(keyword) '\(PlainText.escape(text ?? "", limit: 200))' cannot be expanded: \(problem.reason)")
    }
}
