import Capabilities
import FileKit

/// The settings for one host, with ssh's defaults for what the files do not say: the values that `ssh -G HOST` prints.
public struct SSHSettings: Sendable, Hashable {
    /// The address that was asked for.
    public let address: SSHAddress
    /// The name or address to connect to (`HostName`).
    public let hostName: String
    /// The user there.
    public let user: String
    /// The port there.
    public let port: Int
    /// Which addresses of the host are used.
    public let addressFamily: AddressFamily

    // MARK: Identity

    /// The files of private keys in their order, as they are written in the settings; `identityPaths()` has their paths.
    public let identityFiles: [String]
    /// Whether only these are tried of those that the agent has.
    public let identitiesOnly: Bool
    /// The value of `IdentityAgent` with everything expanded; `agentSocket` has its meaning.
    public let identityAgent: String?
    /// The names of methods in their order, between commas. Nil for ssh's order.
    public let preferredAuthentications: String?
    /// Whether a password may be sent.
    public let passwordAuthentication: Bool
    /// Whether questions of the server may be answered.
    public let keyboardInteractiveAuthentication: Bool
    /// Whether keys may be used.
    public let publicKeyAuthentication: PublicKeyAuthentication
    /// How often a password is asked for.
    public let passwordPrompts: Int
    /// Whether nothing is asked.
    public let isBatch: Bool
    /// The agent that programs on the host may use. We never forward one.
    public let forwardedAgent: ForwardedAgent

    // MARK: Trust

    /// Files of known hosts to which the user's own belong; new hosts are added to the first. Paths, expanded.
    public let userKnownHostsFiles: [String]
    /// Files of known hosts of the system.
    public let globalKnownHostsFiles: [String]
    /// What happens with hosts that are not known.
    public let strictHostKeyChecking: StrictHostKeyChecking
    /// Whether names are hashed in files of known hosts.
    public let hashesKnownHosts: Bool
    /// The name of the host in files of known hosts, in small letters.
    public let hostKeyAlias: String?
    /// Whether the address is looked up in files of known hosts too.
    public let checksHostAddress: Bool
    /// The algorithms for keys of hosts, the preferred first.
    public let hostKeyAlgorithms: [String]
    /// Whether algorithms for types of known keys come before the others. Otherwise the user has chosen the order.
    public let prefersKnownTypes: Bool

    // MARK: Route and connection

    /// The hosts to connect through, with commas between them.
    public let proxyJump: String?
    /// The command that connects, not expanded.
    public let proxyCommand: String?
    /// Seconds to wait for a connection. Nil for as long as the system does.
    public let connectTimeout: Int?
    /// Seconds of silence after which the host is asked whether it is still there; 0 for never.
    public let serverAliveInterval: Int
    /// How many such questions may be unanswered.
    public let serverAliveCountMax: Int
    /// Whether everything is compressed.
    public let compression: Bool
    /// Bytes after which keys are renewed; 0 for the default.
    public let rekeyBytes: Int
    /// Seconds after which keys are renewed; 0 for never.
    public let rekeySeconds: Int
    /// Whether ssh shares its connections.
    public let controlMaster: ControlMaster
    /// The socket of a shared connection.
    public let controlPath: String?
    /// How much ssh says, as in the settings: `INFO`.
    public let logLevel: String

    /// The file that was read in place of the usual ones. Nil for those.
    public internal(set) var configurationFile: String?

    /// What makes the connection, as far as the files of settings decide; `engine()` looks at more.
    let decision: SSHEngine
    /// For values that ssh expands when it uses them.
    let tokens: ConfigTokens
    let account: AccountFacts

    /// What is needed of the account afterwards.
    struct AccountFacts: Sendable, Hashable {
        let agent: String?
        let environment: [String: String]
    }

    /// The values of `PubkeyAuthentication`.
    public enum PublicKeyAuthentication: String, Sendable {
        case yes = "true"
        case no = "false"
        /// With or without the extension that binds signatures to the host's key.
        case unbound
        case hostBound = "host-bound"
    }

    /// The values of `ForwardAgent`.
    public enum ForwardedAgent: Sendable, Hashable {
        case none
        /// The one of `SSH_AUTH_SOCK`.
        case standard
        /// The one with this socket.
        case socket(String)
    }

    /// The values of `StrictHostKeyChecking`.
    public enum StrictHostKeyChecking: String, Sendable {
        /// Unknown hosts are refused.
        case yes = "true"
        /// ssh accepts any key. We do not.
        case off = "false"
        /// The person is asked.
        case ask
        /// Unknown hosts are added, and changed keys refused.
        case acceptNew = "accept-new"
    }

    /// The values of `ControlMaster`.
    public enum ControlMaster: String, Sendable {
        case yes = "true"
        case no = "false"
        case auto, ask
        case autoAsk = "autoask"
    }
}

extension SSHSettings {
    /// The variables of the user, to which settings may refer.
    public var variables: [String: String] { account.environment }

    /// Whether the host is named by an address, so that no name is looked up.
    public var hasNumericHost: Bool { NumericAddress.usualForm(hostName, family: addressFamily) != nil }

    /// Whether a program of the settings tells keys of hosts.
    public var hasKnownHostsCommand: Bool {
        guard case .system(let reasons) = decision else { return false }
        return reasons.contains { $0.keyword == "KnownHostsCommand" }
    }

    /// The paths of the files of private keys. Empty for `IdentityFile none`. Throws `.configuration` for one that cannot
    /// be expanded.
    public func identityPaths() throws(SSHError) -> [String] {
        var paths: [String] = []
        for file in identityFiles where ASCII.lowercased(file) != "none" {
            do throws(ConfigTokens.Problem) { paths.append(try tokens.expandingAll(file)) } catch {
                throw SSHError(
                    .configuration, "IdentityFile '\(PlainText.escape(file))' cannot be expanded: \(error.reason)")
            }
        }
        return paths
    }

    /// The socket of the agent that has keys. Nil if there is none.
    public var agentSocket: String? {
        switch identityAgent {
        case nil, "SSH_AUTH_SOCK": account.agent
        case "none": nil
        case let variable? where variable.hasPrefix("$"): account.environment[String(variable.dropFirst())]
        case let path?: path
        }
    }

    /// What makes the connection, and why. A certificate beside a private key is an identity that only ssh can use, and
    /// which it finds by itself.
    public func engine() throws(SSHError) -> SSHEngine {
        guard case .own = decision else { return decision }
        for path in try identityPaths() where Files.exists(path + "-cert.pub") {
            return .system([
                SSHReason("IdentityFile", nil, "has the certificate \(path)-cert.pub, which only ssh can use")
            ])
        }
        return .own
    }
}
