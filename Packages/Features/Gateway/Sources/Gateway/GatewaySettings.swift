import Capabilities
import FileKit
import GatewayStore
import GatewayTurns
import Registry
import SandboxKit
import Settings
import ToolKit
import TurnLoop

/// The settings of the gateway.
struct GatewaySettings: SettingsRecord {
    /// Which certificate it uses for TLS.
    enum Encryption: String, Choice, Hashable {
        case none
        /// A self-signed one that it creates; clients accept it by its fingerprint.
        case own
        /// One that the administrator provides.
        case given
    }

    // Where it listens, and which clients it accepts.

    var address = ""
    var port = 0
    var socket: PathValue?
    var tls = Encryption.none
    var certificate: PathValue?
    var key: PathValue?
    var hosts: [String] = []
    var origins: [String] = []
    var drain = Duration.zero

    // Where models work, and what they may do there.

    var projects: PathValue?
    var folders: [PathValue] = []
    var approvals = ApprovalPolicy()
    var approvalTime = Duration.zero
    var keepsRunning = false
    var sandbox = Confinement.isolated
    var sandboxReads: [PathValue] = []
    var keepsSecrets = false

    // Which model answers, and the limits of a turn.

    var model: String?
    var rounds = 0
    var (turnTime, callTime) = (Duration.zero, Duration.zero)
    var (turnTokens, dayTokens): (Int?, Int?)
    var (turnCost, dayCost): (Double?, Double?)

    static let bindings = listening + working + answering + [stopping]

    /// Settings that are read once, when the gateway starts to listen. Changes to the others apply from the next
    /// request.
    static let readAtStart = (listening + [stopping]).map(\.declaration)

    private static let listening = [
        bind({ $0.address = $1 }, Setting("address", "IP address to listen on", default: "127.0.0.1", risk: .widens)),
        bind(
            { $0.port = $1 },
            Setting(
                "port", "Port to listen on; 0 for any free port", in: 0...65_535, default: 6278, risk: .widens)),
        bind({ $0.socket = $1 }, Setting("socket", "Unix socket to listen on as well", default: nil, risk: .widens)),
        bind(
            { $0.tls = $1 },
            Setting(
                "tls", "TLS: none, own for a self-signed certificate, or given for the one in gateway.certificate",
                default: .none, risk: .widens)),
        bind(
            { $0.certificate = $1 },
            Setting(
                "certificate", "PEM file with the certificate and its issuers, if gateway.tls is 'given'",
                default: nil, risk: .widens)),
        bind(
            { $0.key = $1 },
            Setting(
                "certificate-key", "PEM file with the certificate's key, if it is in another file", default: nil,
                risk: .widens)),
        bind(
            { $0.hosts = $1 },
            Setting(
                "hosts", "Accepted host names, besides localhost and the address it listens on", default: [],
                risk: .widens)),
        bind(
            { $0.origins = $1 },
            Setting(
                "origins", "Origins of web pages that may use it, such as https://app.example.com", default: [],
                risk: .widens)),
    ]

    private static let working = [
        bind(
            { $0.projects = $1 },
            Setting(
                "projects", "Folder for new projects; by default 'projects' in the data folder", default: nil,
                risk: .widens)),
        bind(
            { $0.folders = $1 },
            Setting("folders", "Other folders in which clients may create projects", default: [], risk: .widens)),
        bind(
            { $0.approvals = $1 },
            Setting(
                "approvals", "Rules for tools in every project; the rules of all settings files are combined",
                default: ApprovalPolicy(), risk: .widens
            ).joiningLayers()),
        bind(
            { $0.approvalTime = $1 },
            Setting(
                "approval-limit", "How long to wait for a tool's approval before denying it", default: .seconds(60))),
        bind(
            { $0.keepsRunning = $1 },
            Setting(
                "keeps-running", "Whether a turn continues when its client disconnects", default: false,
                risk: .widens)),
        bind(
            { $0.sandbox = $1 },
            Setting(
                "sandbox",
                "Sandbox for models' commands: none, folder to hide other files, or isolated to block the network too",
                default: .isolated, risk: .widens)),
        bind(
            { $0.sandboxReads = $1 },
            Setting(
                "sandbox-reads", "What else sandboxed commands may read, such as tools installed in your home folder",
                default: [], risk: .widens)),
        bind(
            { $0.keepsSecrets = $1 },
            Setting(
                "keep-secrets", "Whether secrets in a session's messages are stored with it", default: false,
                risk: .widens)),
    ]

    private static let answering = [
        bind(
            { $0.model = $1 },
            Setting(
                "model", "Default model, as PROVIDER/MODEL, for requests that name none", default: nil, risk: .sends)),
        bind(
            { $0.rounds = $1 },
            Setting(
                "max-rounds", "Maximum number of requests to the model in one turn", in: 1...Int.max, default: 50,
                risk: .widens)),
        bind(
            { $0.turnTime = $1 },
            Setting("turn-limit", "Time limit for one turn", default: .seconds(1800), risk: .widens)),
        bind(
            { $0.callTime = $1 },
            Setting("tool-limit", "Time limit for one tool call", default: .seconds(30), risk: .widens)),
        bind(
            { $0.turnTokens = $1 },
            Setting("turn-tokens", "Maximum number of tokens written in one turn", in: 0...Int.max, risk: .widens)),
        bind(
            { $0.turnCost = $1 },
            Setting("turn-cost", "Maximum cost of one turn, in US dollars", in: costs, risk: .widens)),
        bind(
            { $0.dayTokens = $1 },
            Setting(
                "day-tokens", "Maximum number of tokens for all turns of a day", in: 0...Int.max, risk: .widens)),
        bind(
            { $0.dayCost = $1 },
            Setting("day-cost", "Maximum cost of all turns of a day, in US dollars", in: costs, risk: .widens)),
    ]

    private static let stopping = bind(
        { $0.drain = $1 },
        Setting(
            "drain-limit", "How long running turns may continue when the gateway is stopped", default: .seconds(8)))

    /// The largest limit that fits the range of whole billionths of a dollar.
    static let largestCost = 1e9
    private static let costs = 0...largestCost
}

extension GatewaySettings {
    /// The settings that apply to turns.
    ///
    /// - Parameter open: A socket on which it already listens, whatever the settings say now.
    func turns(in surroundings: Surroundings, socket open: String? = nil) -> TurnSettings {
        var turns = TurnSettings()
        let places = surroundings.locations
        // These folders hold keys, tokens and conversations, and a command could use the gateway through its socket.
        let own = [places.config, places.data, places.state, places.cache, socket?.text ?? "", open ?? ""]
        turns.home = Files.home(in: surroundings.environment)
        turns.shell = ShellOptions(
            environment: surroundings.environment,
            sandbox: sandbox.sandbox(home: turns.home, showing: sandboxReads.map(\.text), hiding: own))
        turns.defaultModel = model
        turns.rules = approvals.rules
        turns.approvalTime = approvalTime
        turns.keepsRunning = keepsRunning
        turns.rounds = rounds
        turns.turnTime = turnTime
        turns.callTime = callTime
        turns.outputTokens = turnTokens
        turns.cost = turnCost.map(Cost.init(dollars:))
        turns.dayBudget = BudgetLimit(tokens: dayTokens, cost: dayCost.map(Cost.init(dollars:)))
        return turns
    }
}

extension Cost {
    init(dollars: Double) {
        self.init(nanodollars: Int((dollars * 1e9).rounded()))
    }
}
