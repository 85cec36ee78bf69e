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
    /// With which certificate it speaks TLS.
    enum Encryption: String, Choice, Hashable {
        case none
        /// One that it makes for itself, which clients accept by its fingerprint.
        case own
        /// One of the administrator's.
        case given
    }

    // Where it listens, and whom it answers.

    static let address = Setting(
        "address", "The address of this machine, in digits, at which it listens", default: "127.0.0.1", risk: .widens)
    static let port = Setting(
        "port", "The port at which it listens; 0 for one that the system chooses", in: 0...65_535, default: 6278,
        risk: .widens)
    static let socket = Setting<PathValue?>(
        "socket", "A Unix socket at which it listens too", default: nil, risk: .widens)
    static let tls = Setting(
        "tls", "Whether it speaks TLS: not at all, with a certificate of its own making, or with a given one",
        default: Encryption.none, risk: .widens)
    static let certificate = Setting<PathValue?>(
        "certificate", "The PEM file with the given certificate and its issuers", default: nil, risk: .widens)
    static let key = Setting<PathValue?>(
        "certificate-key", "The PEM file with its key, when it is another file", default: nil, risk: .widens)
    static let hosts = Setting(
        "hosts", "Names that it may be called by, beside localhost and the address at which it listens",
        default: [String](), risk: .widens)
    static let origins = Setting(
        "origins", "Web pages that may use it, such as https://app.example.com", default: [String](), risk: .widens)

    // Where it works, and what it may do there.

    static let projects = Setting<PathValue?>(
        "projects", "The folder in which new projects are made; projects in its data folder when not set",
        default: nil, risk: .widens)
    static let folders = Setting(
        "folders", "Other folders that projects made over the network may lie in", default: [PathValue](),
        risk: .widens)
    static let approvals = Setting(
        "approvals", "Rules for tools in every project; those of all settings files count together",
        default: ApprovalPolicy(), risk: .widens
    ).joiningLayers()
    static let approvalTime = Setting(
        "approval-limit", "How long a question about a tool waits before it counts as a no",
        default: Duration.seconds(60))
    static let keepsRunning = Setting(
        "keeps-running", "Whether a turn goes on when its client vanishes", default: false, risk: .widens)

    static let sandbox = Setting(
        "sandbox",
        "What commands are kept from: nothing; all but the system's programs and the project's folder; and the network",
        default: Confinement.isolated, risk: .widens)
    static let sandboxReads = Setting(
        "sandbox-reads", "What else commands in the sandbox may read, such as tools that are installed in your home",
        default: [PathValue](), risk: .widens)

    static let keepsSecrets = Setting(
        "keep-secrets", "Whether secrets that stand in a session are stored with it", default: false, risk: .widens)

    // Who answers, and how far a turn may go.

    static let model = Setting<String?>(
        "model", "Who answers where a request names no model, as PROVIDER/MODEL", default: nil, risk: .sends)
    static let rounds = Setting(
        "max-rounds", "How often a model is asked in one turn", in: 1...Int.max, default: 50,
        risk: .widens)
    static let turnTime = Setting(
        "turn-limit", "How long one turn may take", default: Duration.seconds(1800),
        risk: .widens)
    static let callTime = Setting(
        "tool-limit", "How long one tool may take", default: Duration.seconds(30),
        risk: .widens)
    static let turnTokens = Setting<Int?>(
        "turn-tokens", "How many tokens one turn may write", in: 0...Int.max, risk: .widens)
    static let turnCost = Setting<Double?>(
        "turn-cost", "What one turn may cost, in US dollars", in: costs, risk: .widens)
    static let dayTokens = Setting<Int?>(
        "day-tokens", "How many tokens all turns of a day may take", in: 0...Int.max, risk: .widens)
    static let dayCost = Setting<Double?>(
        "day-cost", "What all turns of a day may cost, in US dollars", in: costs, risk: .widens)
    /// What is beyond the range of whole numbers of a billionth is no limit that anybody reaches.
    static let largestCost = 1e9
    private static let costs = 0...largestCost
    static let drain = Setting(
        "drain-limit", "How long turns may go on once the gateway is told to end", default: Duration.seconds(8))

    static let declarations = [
        address.declaration, port.declaration, socket.declaration, tls.declaration, certificate.declaration,
        key.declaration, hosts.declaration, origins.declaration, projects.declaration, folders.declaration,
        approvals.declaration, approvalTime.declaration, keepsRunning.declaration, sandbox.declaration,
        sandboxReads.declaration, keepsSecrets.declaration, model.declaration, rounds.declaration, turnTime.declaration,
        callTime.declaration,
        turnTokens.declaration, turnCost.declaration, dayTokens.declaration, dayCost.declaration, drain.declaration,
    ]

    /// Those that are read once, when the gateway begins to listen; the others hold for the next request.
    static let readAtStart = [
        address.declaration, port.declaration, socket.declaration, tls.declaration, certificate.declaration,
        key.declaration, hosts.declaration, origins.declaration, drain.declaration,
    ]

    /// What of them holds for turns.
    ///
    /// - Parameter open: a socket at which it listens, whatever the settings say now.
    static func turns(
        _ settings: FeatureSettings, _ surroundings: Surroundings, socket open: String? = nil
    ) -> TurnSettings {
        var turns = TurnSettings()
        let places = surroundings.locations
        // Keys, tokens and what was said lie there; and through the socket the gateway itself could be asked.
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
