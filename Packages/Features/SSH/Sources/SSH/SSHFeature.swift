import Capabilities
public import Registry
import SSHClient
import Screens
public import Settings

/// Commands on other machines, over connections that are verified as OpenSSH verifies them.
public struct SSHFeature: Feature {
    // Such a file can name a program that connects (ProxyCommand).
    static let config = Setting<PathValue?>(
        "config", "File with settings of SSH, read in place of ~/.ssh/config and the system's; default: both of these",
        default: nil, risk: .runs)
    static let parallel = Setting(
        "parallel", "How many hosts are connected to at once", in: 1...1_000, default: 100)

    public static let manifest = Manifest(
        id: "ssh", summary: "Run commands on other machines, by SSH", version: "0.1.0",
        needs: [.one((any SecretStore).self)], settings: [config.declaration, parallel.declaration],
        verbatim: ["ssh.run": 2])

    private let config: PathValue?
    private let parallel: Int

    public init(_ settings: FeatureSettings) {
        config = settings[Self.config]
        parallel = settings[Self.parallel]
    }

    public func register(in registry: inout RegistryBuilder) {
        registry.uses(
            Library("libssh2", version: { SSHLibrary.compiledVersion }, installed: { try SSHLibrary.version() }))
        let whole = registry.whole
        let hosts = HostActions(
            book: HostBook(config: config), parallel: parallel,
            secrets: { whole.registry?.optional((any SecretStore).self) })
        for action in hosts.all { registry.add(action) }
        registry.addScreen(
            "ssh.machines", "Hosts", .tab("Servers"), listing: "ssh.hosts", id: "host",
            links: [
                .action("ssh.run", "Run", key: "r", ["hosts": .row("host")]),
                .action("ssh.test", "Connect", key: "t", ["hosts": .row("host")]),
                .action("ssh.forward", "Forward a port", key: "f", ["host": .row("host")]),
                .action("ssh.trust", "Trust", key: "a", ["hosts": .row("host")]),
            ])
    }
}
