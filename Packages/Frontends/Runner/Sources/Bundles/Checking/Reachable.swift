public import Capabilities

/// What a bundle can reach, for a person to look at before. What it runs in turn reaches no more: each layer decides.
public struct Reachable: Record {
    public let effects: Effect
    /// Actions that may do whatever they do.
    public let actions: [String]
    public let servers: [String]
    /// The folders beneath which files may be opened.
    public let folders: [String]
    public let secrets: [String]
    /// Variables of the environment that it reads itself.
    public let variables: [String]
    /// Programs that may be run in a sandbox.
    public let programs: [String]
    /// Tools that models may use without being asked.
    public let tools: [String]
    /// How many actions and tool calls it may do, and for how long.
    public let calls: Int?
    public let time: Duration?

    public init(of bundle: Bundle, in reach: BundleReach) {
        let permissions = bundle.permissions
        (effects, actions, tools) = (permissions.effects, permissions.actions, permissions.tools)
        (calls, time) = (permissions.calls, permissions.time)
        (secrets, programs) = (permissions.secrets, permissions.programs)
        variables = bundle.environment.compactMap(\.value.variable).sorted()
        servers = (permissions.hosts ?? [BundlePermissions.setUp]).flatMap {
            $0 == BundlePermissions.setUp ? reach.servers : [$0]
        }
        folders = bundle.folders(in: reach).map(\.canonical)
    }

    public static let fields: [Field<Reachable>] = [
        Field("effects", "The farthest that any action may go") { $0.effects },
        Field("actions", "Actions that may do whatever they do") { $0.actions },
        Field("servers", "Servers that may be spoken to") { $0.servers },
        Field("folders", "Folders beneath which files may be opened") { $0.folders },
        Field("secrets", "Secrets whose values may be had") { $0.secrets },
        Field("variables", "Variables that are read into its environment") { $0.variables },
        Field("programs", "Programs that may be run in a sandbox") { $0.programs },
        Field("tools", "Tools that models may use without being asked") { $0.tools },
        Field("calls", "How many actions and tool calls it may do; null for any number") { $0.calls },
        Field("time", "For how long it may begin them; null for any time") { $0.time },
    ]
}
