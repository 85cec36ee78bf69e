import Capabilities
import ChatHistory
import JSON
import SandboxKit
import Settings
import TurnLoop

/// The settings of Chat. A conversation keeps the values with which it started.
struct ChatSettings: SettingsRecord {
    /// How tools are described to a model.
    enum ToolFormat: String, Choice, Hashable {
        /// In the format of the provider.
        case native
        /// As tagged text in the prompt, for models without tool support.
        case tagged
    }

    /// What happens to old turns that no longer fit into the context.
    enum Overflow: String, Choice, Hashable {
        /// The oldest turns are not sent.
        case leaveOut = "leave-out"
        /// The model summarises them, and the summary is sent instead.
        case summarise
    }

    var model: String?
    var system = ""
    var temperature: Double?
    var maxTokens: Int?
    var streams = false
    var buffer = ByteCount(0)
    var tools = false
    var mode: ToolMode?
    var folders: [PathValue] = []
    var policy = ApprovalPolicy()
    var sandbox = Confinement.isolated
    var sandboxReads: [PathValue] = []
    var keepsSecrets = false
    var rounds = 0
    var toolFormat = ToolFormat.native
    var context = Overflow.leaveOut
    var usesResponses = false
    var sendsAttribution = false
    var localServers: [String] = []

    static let usualSystem = "You are a helpful assistant."
    static let temperatures = 0.0...2.0
    static let tokens = 1...Int.max

    static let bindings = [
        bind({ $0.model = $1 }, Setting("model", "The default model", default: nil, risk: .sends)),
        bind(
            { $0.system = $1 },
            Setting("system", "The default system prompt", default: usualSystem, risk: .widens)),
        bind(
            { $0.temperature = $1 },
            Setting(
                "temperature",
                "Sampling temperature, from 0 to 2; by default 0.7 on your own platform, otherwise the provider's default",
                in: temperatures)),
        bind(
            { $0.maxTokens = $1 },
            Setting("max-tokens", "Maximum length of an answer, in tokens", in: tokens, risk: .widens)),
        bind({ $0.streams = $1 }, Setting("stream", "Whether to show answers as they arrive", default: true)),
        bind(
            { $0.buffer = $1 },
            Setting(
                "buffer", "Size of the buffer between a stream and a slow reader, from 16KiB to 512KiB",
                in: ByteCount(16 << 10)...ByteCount(512 << 10), default: ByteCount(64 << 10))),
        bind(
            { $0.tools = $1 },
            Setting("tools", "Whether models may use read-only tools by default", default: false, risk: .widens)),
        bind(
            { $0.mode = $1 },
            Setting(
                "mode", "The default tool mode: read-only, workspace or full", default: nil, risk: .widens)),
        bind(
            { $0.folders = $1 },
            Setting(
                "folders",
                "Folders in which an earlier version approved the mode; each entry moves to its folder's record when it is used",
                default: [], risk: .widens)),
        bind(
            { $0.policy = $1 },
            Setting(
                "approvals", "Rules for tools; the rules of all settings files are combined",
                default: ApprovalPolicy(), risk: .widens
            ).joiningLayers()),
        bind(
            { $0.sandbox = $1 },
            Setting(
                "sandbox",
                "Sandbox for models' commands: none, folder to hide other files, or isolated to block the network too",
                default: .isolated, risk: .widens)),
        bind(
            { $0.sandboxReads = $1 },
            Setting(
                "sandbox-reads", "Other paths that sandboxed commands may read, such as tools in your home folder",
                default: [], risk: .widens)),
        bind(
            { $0.keepsSecrets = $1 },
            Setting(
                "keep-secrets", "Whether to store secrets that appear in a conversation", default: false,
                risk: .widens)),
        bind(
            { $0.rounds = $1 },
            Setting(
                "max-rounds", "Maximum number of requests to the model in one turn", in: 1...Int.max, default: 50,
                risk: .widens)),
        bind(
            { $0.toolFormat = $1 },
            Setting(
                "tool-format", "How tools are described to models: in the provider's format, or as text with tags",
                default: .native, risk: .widens)),
        bind(
            { $0.context = $1 },
            Setting(
                "context", "What to do with old turns that no longer fit into the model's context",
                default: .leaveOut, risk: .widens)),
        bind(
            { $0.usesResponses = $1 },
            Setting(
                "openai-responses", "Whether to use OpenAI's Responses API instead of Chat Completions",
                default: false)),
        bind(
            { $0.sendsAttribution = $1 },
            Setting("attribution", "Whether to tell OpenRouter the name of this program", default: true)),
        bind(
            { $0.localServers = $1 },
            Setting(
                "local-servers",
                "Servers on this machine that may be used without being named: ollama, lmstudio, llama.cpp, vllm",
                default: [], risk: .sends)),
    ]
}

/// The options with which a conversation asks its models. They are stored with it, so that later changes of settings do
/// not apply to it.
struct ChatOptions: Sendable, Hashable {
    var model = ModelOptions()
    /// The tool mode; nil without tools.
    var mode: ToolMode?
    /// The folder for which tools were chosen. They read this folder.
    var toolFolder: ToolFolder.Known?
    /// Whether old turns that do not fit are summarised; otherwise they are left out.
    var summarises = false

    init() {}

    /// The options of a new conversation, from the settings.
    init(_ settings: ChatSettings, isPlatform: Bool) {
        model.temperature = settings.temperature ?? (isPlatform ? 0.7 : nil)
        model.maxTokens = settings.maxTokens
        mode = settings.tools ? .readOnly : nil
        summarises = settings.context == .summarise
    }

    /// The stored options with another mode for this folder. Everything else stays, including members of later
    /// versions.
    static func changed(_ stored: JSON, to mode: ToolMode?, in folder: ToolFolder.Known) -> JSON {
        var object = stored.object ?? [:]
        object["tools"] = mode.map(Self.stored)
        object[ConversationSetup.folderOption] = nil
        object[ConversationSetup.folderIdentityOption] = nil
        if mode != nil { folder.store(in: &object) }
        return .object(object)
    }

    private static func stored(_ mode: ToolMode) -> JSON { mode == .readOnly ? true : mode.json }

    /// The stored form.
    var json: JSON {
        var object: JSONObject = [:]
        object["temperature"] = model.temperature.map { .double($0) }
        object["top_p"] = model.topP.map { .double($0) }
        object["max_tokens"] = model.maxTokens.map { .int($0) }
        if !model.stop.isEmpty { object["stop"] = model.stop.json }
        object["seed"] = model.seed.map { .int($0) }
        object["effort"] = model.effort?.json
        if let mode {
            // Exports leave this member out.
            object["tools"] = Self.stored(mode)
            toolFolder?.store(in: &object)
        }
        if summarises { object["summarises"] = true }
        return .object(object)
    }

    /// Reads the stored form. Members of later versions are ignored.
    init(json: JSON) {
        model.temperature = json["temperature"]?.double
        model.topP = json["top_p"]?.double
        model.maxTokens = json["max_tokens"]?.int
        model.stop = json["stop"]?.array?.compactMap(\.string) ?? []
        model.seed = json["seed"]?.int
        model.effort = json["effort"]?.string.flatMap(ModelOptions.Effort.init)
        mode = json["tools"]?.bool == true ? .readOnly : json["tools"]?.string.flatMap(ToolMode.init)
        toolFolder = ToolFolder.Known(json: json)
        summarises = json["summarises"]?.bool ?? false
    }
}
