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
enum GatewaySettings {
    /// Which certificate it uses for TLS.
    enum Encryption: String, Choice, Hashable {
        case none
        /// A self-signed one that it creates; clients accept it by its fingerprint.
        case own
        /// One that the administrator provides.
        case given
    }

    // Where it listens, and which clients it accepts.

    static let address = Setting(
        "address", "IP address to listen on", default: "127.0.0.1", risk: .widens)
    static let port = Setting(
        "port", "Port to listen on; 0 for any free port", in: 0...65_535, default: 6278, risk: .widens)
    static let socket = Setting<PathValue?>(
        "socket", "Unix socket to listen on as well", default: nil, risk: .widens)
    static let tls = Setting(
        "tls", "TLS: none, own for a self-signed certificate, or given for the one in gateway.certificate",
        default: Encryption.none, risk: .widens)
    static let certificate = Setting<PathValue?>(
        "certificate", "PEM file with the certificate and its issuers, if gateway.tls is 'given'", default: nil,
        risk: .widens)
    static let key = Setting<PathValue?>(
        "certificate-key", "PEM file with the certificate's key, if it is in another file", default: nil, risk: .widens)
    static let hosts = Setting(
        "hosts", "Accepted host names, besides localhost and the address it listens on",
        default: [String](), risk: .widens)
    static let origins = Setting(
        "origins", "Origins of web pages that may use it, such as https://app.example.com", default: [String](),
        risk: .widens)

    // Where models work, and what they may do there.

    static let projects = Setting<PathValue?>(
        "projects", "Folder for new projects; by default 'projects' in the data folder",
        default: nil, risk: .widens)
    static let folders = Setting(
        "folders", "Other folders in which clients may create projects", default: [PathValue](),
        risk: .widens)
    static let approvals = Setting(
        "approvals", "Rules for tools in every project; the rules of all settings files are combined",
        default: ApprovalPolicy(), risk: .widens
    ).joiningLayers()
    static let approvalTime = Setting(
        "approval-limit", "How long to wait for a tool's approval before denying it",
        default: Duration.seconds(60))
    static let keepsRunning = Setting(
        "keeps-running", "Whether a turn continues when its client disconnects", default: false, risk: .widens)

    static let sandbox = Setting(
        "sandbox",
        "Sandbox for models' commands: none, folder to hide other files, or isolated to block the network too",
        default: Confinement.isolated, risk: .widens)
    static let sandboxReads = Setting(
        "sandbox-reads", "What else sandboxed commands may read, such as tools installed in your home folder",
        default: [PathValue](), risk: .widens)

    static let keepsSecrets = Setting(
        "keep-secrets", "Whether secrets in a session's messages are stored with it", default: false, risk: .widens)

    // Which model answers, and the limits of a turn.

    static let model = Setting<String?>(
        "model", "Default model, as PROVIDER/MODEL, for requests that name none", default: nil, risk: .sends)
    static let rounds = Setting(
        "max-rounds", "Maximum number of requests to the model in one turn", in: 1...Int.max, default: 50,
        risk: .widens)
    static let turnTime = Setting(
        "turn-limit", "Time limit for one turn", default: Duration.seconds(1800),
        risk: .widens)
    static let callTime = Setting(
        "tool-limit", "Time limit for one tool call", default: Duration.seconds(30),
        risk: .widens)
    static let turnTokens = Setting<Int?>(
        "turn-tokens", "Maximum number of tokens written in one turn", in: 0...Int.max, risk: .widens)
    static let turnCost = Setting<Double?>(
        "turn-cost", "Maximum cost of one turn, in US dollars", in: costs, risk: .widens)
    static let dayTokens = Setting<Int?>(
        "day-tokens", "Maximum number of tokens for all turns of a day", in: 0...Int.max, risk: .widens)
    static let dayCost = Setting<Double?>(
        "day-cost", "Maximum cost of all turns of a day, in US dollars", in: costs, risk: .widens)
    /// The largest limit that fits the range of whole billionths of a dollar.
    static let largestCost = 1e9
    private static let costs = 0...largestCost
    static let drain = Setting(
        "drain-limit", "How long running turns may continue when the gateway is stopped", default: Duration.seconds(8))

    static let declarations = [
        address.declaration, port.declaration, socket.declaration, tls.declaration, certificate.declaration,
        key.declaration, hosts.declaration, origins.declaration, projects.declaration, folders.declaration,
        approvals.declaration, approvalTime.declaration, keepsRunning.declaration, sandbox.declaration,
        sandboxReads.declaration, keepsSecrets.declaration, model.declaration, rounds.declaration, turnTime.declaration,
        callTime.declaration,
        turnTokens.declaration, turnCost.declaration, dayTokens.declaration, dayCost.declaration, drain.declaration,
    ]

    /// Settings that are read once, when the gateway starts to listen. Changes to the others apply from the next
    /// request.
    static let readAtStart = [
        address.declaration, port.declaration, socket.declaration, tls.declaration, certificate.declaration,
        key.declaration, hosts.declaration, origins.declaration, drain.declaration,
    ]

    /// The settings that apply to turns.
    ///
    /// - Parameter open: A socket on which it already listens, whatever the settings say now.
    static func turns(
        _ settings: FeatureSettings, _ surroundings: Surroundings, socket open: String? = nil
    ) -> TurnSettings {
        var turns = TurnSettings()
        let places = surroundings.locations
        // These folders hold keys, tokens and conversations, and a command could use the gateway through its socket.
        let own = [places.config, places.data, places.state, places.cache, settings[socket]?.text ?? "", open ?? ""]
        turns.home = Files.home(in: surroundings.environment)
        turns.shell = ShellOptions(
            environment: surroundings.environment,
            sandbox: settings[sandbox].sandbox(
                home: turns.home, showing: settings[sandboxReads].map(\.text), hiding: own))
        turns.defaultModel = settings[model]
        turns.rules = settings[approvals].rules
        turns.approvalTime = settings[approvalTime]
        turns.keepsRunning = settings[keepsRunning]
        turns.rounds = settings[rounds]
        turns.turnTime = settings[turnTime]
        turns.callTime = settings[callTime]
        turns.outputTokens = settings[turnTokens]
        turns.cost = settings[turnCost].map(Cost.init(dollars:))
        turns.dayBudget = BudgetLimit(tokens: settings[dayTokens], cost: settings[dayCost].map(Cost.init(dollars:)))
        return turns
    }
}

extension Cost {
    init(dollars: Double) {
        self.init(nanodollars: Int((dollars * 1e9).rounded()))
    }
}
