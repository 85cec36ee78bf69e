import Capabilities
import SSHClient
import SSHCore

/// A host of the settings, where it leads, and who can connect to it. Nothing is sent to find that out.
struct HostRow: Record {
    private let target: Target
    private let place: String?
    private let way: (by: Way, reason: String?)
    private let knowledge: String

    /// Who connects.
    private enum Way: String, Choice { case martlet, ssh, nobody }

    init(_ settings: SSHSettings, place: String?) throws {
        target = Target(settings: settings)
        self.place = place
        way =
            switch try settings.engine() {
            case .own: (.martlet, nil)
            case .system(let reasons): (.ssh, reasons.map(\.description).joined(separator: "; "))
            case .refused(let reason): (.nobody, reason.description)
            }
        let known = try KnownHosts(user: settings.userKnownHostsFiles, global: settings.globalKnownHostsFiles)
            .entries(for: settings.knownHostName)
        let types = known.types.map(\.description)
        knowledge =
            if known.authority != nil { "certificates" } else if types.isEmpty { "unknown" } else {
                types.joined(separator: ", ")
            }
    }

    static let fields: [Field<HostRow>] = [
        Field("host", "Name in the settings of SSH", .name) { $0.target.name },
        Field("address", "User, address and port where it leads") { $0.target.account },
        Field("key", "Types of its known keys, or unknown") { $0.knowledge },
        Field("by", "Who connects: martlet, ssh, or nobody") { $0.way.by },
        Field("reason", "Why martlet does not connect by itself") { $0.way.reason },
        Field("place", "File and line that name it", .detail) { $0.place },
    ]
}

/// What came of connecting to a host.
struct TestRow: HostOutcome {
    private let target: Target
    /// Why the system's ssh made the connection.
    private let systemReason: String?
    let failure: AnyFailure?
    private let took: Duration

    init(_ target: Target, systemReason: String? = nil, failure: AnyFailure? = nil, took: Duration) {
        (self.target, self.systemReason, self.failure, self.took) = (target, systemReason, failure, took)
    }

    var host: String { target.name }
    var state: HostState { failure?.state ?? .ok }
    var reason: String? { failure?.message }

    static let fields: [Field<TestRow>] = [
        Field("host", "The host", .name) { $0.host },
        Field("state", "ok, refused, unreachable or failed", .state) { $0.state },
        Field("account", "User, address and port where it leads") { $0.target.account },
        Field("by", "Who connected: martlet or ssh") {
            $0.failure != nil ? nil : $0.systemReason == nil ? "martlet" : "ssh"
        },
        Field("by_reason", "Why martlet did not connect by itself", .detail) { $0.systemReason },
        Field("duration", "How long it took") { $0.took },
        Field("reason", "What went wrong") { $0.reason },
        Field("code", "Code of the error", .detail) { $0.failure?.code },
    ]
}
