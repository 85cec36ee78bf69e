import Capabilities
import Cryptography
import MCPKit
public import Registry
public import Settings

/// Offers the actions, conversations and screens of a program to MCP hosts: `martlet mcp serve`.
///
/// ```swift
/// let program = CommandLineProgram(
///     name: "mybench", version: "1.0", features: [BuiltInFeature(WeatherFeature.self), BuiltInFeature(ServeFeature.self)])
/// ```
public struct ServeFeature: Feature {
    public static let manifest = Manifest(
        id: "serve", summary: "Offer actions, conversations and screens to MCP hosts", version: "0.1.0",
        needs: [.optional((any ConversationStore).self), .all((any ServerList).self)],
        settings: ServeSettings.declarations, namespaces: ["mcp.serve"],
        // The group belongs to whatever has to do with the protocol, so the words fit other features in it too.
        groups: ["mcp": "Tools of other programs, and this program as a tool, by the Model Context Protocol"])

    private let settings: ServeSettings

    public init(_ settings: FeatureSettings) { self.settings = ServeSettings(settings) }

    public func register(in registry: inout RegistryBuilder) {
        registry.uses(Library("libssl") { Digest.libraryVersion })
        registry.add(ServeAction(settings: settings).action)
        for action in ConversationActions.all { registry.add(action) }
    }
}

/// What the settings say about serving.
struct ServeSettings: Sendable {
    var requests = Self.defaultRequests
    var callLimit = Self.defaultCallLimit
    var resultLimit = Self.defaultResultLimit
    var screens = Self.defaultScreens
    var tasks = Self.defaultTasks
    var taskAfter = Self.defaultTaskAfter

    private static let defaultRequests = 1_000
    private static let defaultCallLimit = Duration.seconds(600)
    private static let defaultResultLimit = ByteCount(1 << 20)
    private static let defaultScreens = 32
    private static let defaultTasks = 32
    private static let defaultTaskAfter = Duration.seconds(2)

    private static let requestsSetting = Setting(
        "requests", "How many requests of one MCP host are answered at once", in: 1...100_000,
        default: defaultRequests)
    private static let callLimitSetting = Setting(
        "call-limit", "How long an action may take for an MCP host before it is cancelled", default: defaultCallLimit)
    private static let resultLimitSetting = Setting(
        "result-limit", "The largest result that an MCP host gets", in: ByteCount(1 << 10)...ByteCount(8 << 20),
        default: defaultResultLimit)
    private static let screensSetting = Setting(
        "screens", "How many screens and conversations are watched for MCP hosts at once", in: 1...1_000,
        default: defaultScreens)

    private static let tasksSetting = Setting(
        "tasks", "How many calls of one MCP host run or are kept as tasks", in: 1...1_000, default: defaultTasks)
    private static let taskAfterSetting = Setting(
        "task-after", "How long a call of an MCP host may take before it becomes a task, if the host takes tasks",
        default: defaultTaskAfter)

    static let declarations = [
        requestsSetting.declaration, callLimitSetting.declaration, resultLimitSetting.declaration,
        screensSetting.declaration, tasksSetting.declaration, taskAfterSetting.declaration,
    ]

    /// The defaults.
    init() {}

    init(_ settings: FeatureSettings) {
        requests = settings[Self.requestsSetting]
        callLimit = settings[Self.callLimitSetting]
        resultLimit = settings[Self.resultLimitSetting]
        screens = settings[Self.screensSetting]
        tasks = settings[Self.tasksSetting]
        taskAfter = settings[Self.taskAfterSetting]
    }

    /// How much hosts may use of the protocol.
    var limits: MCPServer.Limits {
        var limits = MCPServer.Limits()
        limits.requests = requests
        (limits.tasks.each, limits.tasks.patience) = (tasks, taskAfter)
        limits.tasks.all = max(limits.tasks.all, tasks)
        // However short a host's time is, no action is cut off by it, and its result can be asked for.
        let least = callLimit + .seconds(300)
        limits.tasks.life = least...max(least, limits.tasks.life.upperBound)
        // A result has its text, the same as a structure, and pictures.
        limits.tasks.result = 5 * resultLimit.bytes
        limits.tasks.results = max(limits.tasks.results, limits.tasks.result)
        return limits
    }
}
