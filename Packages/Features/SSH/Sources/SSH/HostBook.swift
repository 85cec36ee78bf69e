import Capabilities
import Registry
import SSHClient
import SSHCore
import Settings

/// Finds hosts in the settings of SSH.
struct HostBook: Sendable {
    /// The file that is read in place of the usual ones.
    let config: PathValue?

    /// Reads the settings. They are read for each action, because editors change them.
    func settings(_ host: Host) throws -> SSHConfig {
        let account = try SSHAccount.current(environment: host.environment)
        guard let config else { return try SSHConfig(of: account) }
        return try SSHConfig(file: AbsolutePath.joined(config.text, in: host.locations.current), of: account)
    }

    /// The hosts that a text means, if the caller may reach all of them. Nothing is sent if one of them is refused.
    func targets(_ names: String, for context: ActionContext) throws -> [Target] {
        let config = try settings(context.host)
        let targets = try HostSelection(names).addresses(in: config).map { address in
            Target(settings: try config.settings(for: address))
        }
        for target in targets {
            try context.caller.grant.check(.host(target.settings.hostName, port: target.settings.port))
        }
        return targets
    }

    /// Completes the names of the settings.
    var completion: Completion {
        .dynamic { _, host, _ in
            do {
                return try settings(host).hosts.map { Completion.Candidate($0.name, $0.place.description) }
            } catch {
                // A broken file is told when the command runs.
                return []
            }
        }
    }
}

/// A host that something is done on.
struct Target: Sendable {
    let settings: SSHSettings

    /// As the person calls it.
    var name: String { settings.address.description }
    /// `me@10.0.0.1:2222`, where it leads.
    var account: String {
        let host = settings.hostName.contains(":") ? "[\(settings.hostName)]" : settings.hostName
        return "\(settings.user)@\(host)\(settings.port == 22 ? "" : ":\(settings.port)")"
    }
}
