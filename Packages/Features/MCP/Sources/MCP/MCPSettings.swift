import Capabilities
import MCPServers
import Settings

/// The settings of the feature.
struct MCPSettings: SettingsRecord {
    var readsProject = true
    var remembersSelection = true
    var platformLimit = Duration.seconds(10)
    var samplingModel: String?
    var limits = ServerLimits()

    /// Read by layers, since it matters who has set up a server.
    static let servers = Setting(
        "servers", "MCP servers, by name; 'martlet mcp add' adds one", default: ServerEntries(), risk: .runs)

    static let bindings = [
        bind({ _, _ in }, servers),
        bind(
            { $0.readsProject = $1 },
            Setting(
                "project-files",
                "Whether servers in .mcp.json, .vscode/mcp.json and .cursor/mcp.json of a project are found; each needs your yes",
                default: true, risk: .widens)),
        bind(
            { $0.remembersSelection = $1 },
            Setting(
                "remember-selection",
                "Whether the servers and tools that you chose for all conversations are applied; otherwise your choice is kept for later",
                default: true)),
        bind(
            { $0.platformLimit = $1 },
            Setting(
                "platform-limit", "How long a platform may take to list its tools", default: .seconds(10),
                risk: .widens)),
        bind(
            { $0.samplingModel = $1 },
            Setting(
                "sampling-model",
                "Model that servers may ask, as provider/model, each time with your yes; none by default",
                default: nil, risk: .sends)),
        bind(
            { $0.limits.samplingRequests = $1 },
            Setting(
                "sampling-requests", "How often a server may ask a model while it runs", in: 1...100_000, default: 10,
                risk: .widens)),
        bind(
            { $0.limits.samplingTokens = $1 },
            Setting(
                "sampling-tokens", "Maximum number of tokens of models' answers for a server while it runs",
                in: 1...Int.max, default: 50_000, risk: .widens)),
        bind(
            { $0.limits.message = $1 },
            Setting(
                "message-limit", "Maximum size of a message of a server, from 64KiB to 1GiB",
                in: ByteCount(64 << 10)...ByteCount(1 << 30), default: ByteCount(16 << 20), risk: .widens)),
        bind(
            { $0.limits.entries = $1 },
            Setting(
                "list-limit", "Maximum number of tools, resources or prompts of a server", in: 1...1_000_000,
                default: 20_000, risk: .widens)),
        bind(
            { $0.limits.pages = $1 },
            Setting("page-limit", "Maximum number of pages of a list", in: 1...100_000, default: 100, risk: .widens)),
        bind(
            { $0.limits.start = $1 },
            Setting("start-limit", "How long a server may take to start", default: .seconds(30), risk: .widens)),
        bind(
            { $0.limits.call = $1 },
            Setting(
                "call-limit", "How long a call may take without a sign of progress", default: .seconds(30),
                risk: .widens)),
        bind(
            { $0.limits.longestCall = $1 },
            Setting(
                "call-total", "How long a call with signs of progress may take", default: .seconds(600), risk: .widens)),
        bind(
            { $0.limits.install = $1 },
            Setting(
                "install-limit", "How long the command may take that installs a server", default: .seconds(600),
                risk: .widens)),
        bind(
            { $0.limits.inFlight = $1 },
            Setting(
                "calls-at-once", "Maximum number of requests that wait for one server", in: 1...100_000, default: 100,
                risk: .widens)),
        bind(
            { $0.limits.restarts = $1 },
            Setting(
                "restarts", "How often a server that has ended is started again in ten minutes", in: 0...1_000,
                default: 5, risk: .widens)),
    ]
}
