import Capabilities
import FileKit
import Registry

/// What an MCP host may see.
enum Exposure: String, Choice, Hashable {
    /// Actions as tools.
    case actions
    /// Conversations as resources.
    case conversations
    /// Screens as resources.
    case screens
}

/// What an MCP host may do beyond reading what every model may read.
enum Allowance: String, Choice, Hashable {
    /// Actions that read, and not only those that are offered to models.
    case reads
    /// Actions that write.
    case writes
    /// Actions that destroy, which the host's user is asked about if the host may approve.
    case destroys
    /// Actions that connect to the servers that are set up, or cost something.
    case sends
    /// Decisions, such as approvals, are asked of the host's user.
    case approves
}

/// The rights of the hosts of one server, as its options give them. They become a grant, which decides everything.
struct ServeRights: Sendable {
    let exposes: Set<Exposure>
    let allows: Set<Allowance>
    /// The folders whose files may be opened.
    var folders = Grant.Folders()
    /// The servers that are set up.
    var servers: [String] = []

    /// The rights of a host by its name, which end with the limits.
    func grant(of name: String, _ limits: GrantLimits) -> Grant {
        let effects: Effect = allows.contains(.destroys) ? .destroys : allows.contains(.writes) ? .writes : .reads
        return Grant(
            Grant.Layer(
                .client(name), effects: effects,
                actions: exposes.contains(.conversations) ? ConversationActions.ids : [],
                hosts: allows.contains(.sends) ? .setUp(servers) : .named([]), folders: folders,
                scopes: allows.contains(.approves) ? [.read, .approve] : [.read], limits: limits))
    }

    /// The rights with which tools are called. Behind a host is a model, so that without more it has those of a model.
    func tools(_ grant: Grant) -> Grant {
        allows.isDisjoint(with: [.reads, .writes, .destroys, .sends]) ? grant.narrowed(by: .model) : grant
    }

    /// Whether the rights let a host's user decide what a person decides.
    static func approves(_ grant: Grant) -> Bool { grant.decide(.route([.approve])).isAllowed }

    /// Whether an action, or a screen, is offered at all. A grant says where may be connected to, and not that something
    /// is sent or costs; what does so is left out unless it was allowed.
    func offers(_ action: Action, to grant: Grant) -> Bool {
        guard !action.sends || allows.contains(.sends) else { return false }
        guard !action.showsConversations || exposes.contains(.conversations) else { return false }
        return grant.decide(.action(action.id, action.effect, action.offer)).isAllowed
    }
}

extension ServeRights {
    /// The rights that options give, in these surroundings.
    ///
    /// - Throws: `FileError` for a folder that cannot be opened.
    init(_ exposes: [Exposure], _ allows: [Allowance], folders paths: [String], in host: Host) throws {
        self.init(exposes: exposes.isEmpty ? [.actions] : Set(exposes), allows: Set(allows))
        if !paths.isEmpty {
            var roots: [FolderRoot] = []
            for path in paths { roots.append(try FolderRoot(opening: host.locations.absolute(path))) }
            folders = Grant.Folders(roots: roots, start: roots.first, closed: Self.closed(host))
        }
        var servers: [String] = []
        for server in host.registry.all((any ServerList).self).flatMap(\.servers) where !servers.contains(server) {
            servers.append(server)
        }
        self.servers = servers
    }

    /// What no host opens, by canonical names: /proc, which shows the variables of this process, and our own folders.
    private static func closed(_ host: Host) -> [String] {
        let places = host.locations
        let directories = Directories(
            application: "martlet", override: "MARTLET_HOME", environment: host.environment)
        var closed = ["/proc", places.config, places.data, places.state, places.cache] + places.systemConfig
        do { closed += [try directories.runtime].compactMap(\.self) } catch {
            // The home folder is unknown, so none of our files are in it.
        }
        return closed.filter { !$0.isEmpty }.map { place in
            do throws(FileError) { return try Files.place(place) } catch { return place }
        }
    }
}
