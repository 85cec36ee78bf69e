import Capabilities
import ChatHistory
import JSON
import SandboxKit
import Settings
import TurnLoop

/// The settings of Chat. A conversation keeps those that it began with.
enum ChatSettings {
    static let model = Setting<String?>(
        "model", "The model that is asked when none is named", default: nil, risk: .sends)
    static let usualSystem = "You are a helpful assistant."
    static let system = Setting(
        "system", "What the model is told before everything else", default: usualSystem, risk: .widens)
    static let temperatures = 0.0...2.0
    static let tokens = 1...Int.max
    static let temperature = Setting<Double?>(
        "temperature",
        "How freely the model chooses its words, from 0 to 2; 0.7 at a platform of your own, else the "
            + "provider's choice", in: temperatures)
    static let maxTokens = Setting<Int?>(
        "max-tokens", "How long an answer may be, in tokens", in: tokens, risk: .widens)
    static let streams = Setting("stream", "Whether answers are shown as they come", default: true)
    static let buffer = Setting(
        "buffer", "How much of a stream is held for a reader that is slow, from 16KiB to 512KiB",
        in: ByteCount(16 << 10)...ByteCount(512 << 10), default: ByteCount(64 << 10))
    static let tools = Setting(
        "tools", "Whether models may use tools that only read, without being asked for each conversation",
        default: false,
        risk: .widens)
    static let policy = Setting(
        "approvals", "Rules for tools; those of all settings files count together", default: ApprovalPolicy(),
        risk: .widens
    ).joiningLayers()
    static let mode = Setting<ToolMode?>(
        "mode", "How far models go without being asked for each conversation: read-only, workspace, full", default: nil,
        risk: .widens)
    static let folders = Setting(
        "folders", "Folders in which the mode holds without a question; they are moved to records of their own",
        default: [PathValue](), risk: .widens)
    static let sandbox = Setting(
        "sandbox",
        "What commands are kept from: nothing; all but the system's programs and the folder; and the network",
        default: Confinement.isolated, risk: .widens)
    static let sandboxReads = Setting(
        "sandbox-reads", "What else commands in the sandbox may read, such as tools that are installed in your home",
        default: [PathValue](), risk: .widens)
    static let keepsSecrets = Setting(
        "keep-secrets", "Whether secrets that stand in a conversation are stored with it", default: false,
        risk: .widens)
    /// How tools are put to a model.
    enum ToolFormat: String, Choice, Hashable {
        /// In the way of the provider.
        case native
        /// As text with tags in the prompt, for models that know no other.
        case tagged
    }

    static let toolFormat = Setting(
        "tool-format", "How tools are put to models: in the provider's way, or as text with tags",
        default: ToolFormat.native, risk: .widens)
    /// What becomes of what does not fit into a model's context any more.
    enum Overflow: String, Choice, Hashable {
        /// The oldest turns are not sent.
        case leaveOut = "leave-out"
        /// The model is asked for a summary of them, which is sent in their place.
        case summarise
    }

    static let context = Setting(
        "context", "What happens to old turns that do not fit into the model's context any more",
        default: Overflow.leaveOut, risk: .widens)
    static let rounds = Setting(
        "max-rounds", "How often a model is asked again after its tools have run", in: 1...Int.max, default: 50,
        risk: .widens)
    static let responses = Setting(
        "openai-responses", "Whether OpenAI is asked by Responses and not by Chat Completions", default: false)
    static let attribution = Setting(
        "attribution", "Whether OpenRouter is told which program asks", default: true)

    static let localServers = Setting<[String]>(
        "local-servers",
        "The servers of this machine that may be asked without being named: ollama, lmstudio, llama.cpp, vllm",
        default: [], risk: .sends)

    static let declarations = [
        model.declaration, system.declaration, temperature.declaration, maxTokens.declaration, streams.declaration,
        buffer.declaration, tools.declaration, mode.declaration, folders.declaration,
        policy.declaration, sandbox.declaration, sandboxReads.declaration, keepsSecrets.declaration, rounds.declaration,
        toolFormat.declaration,
        context.declaration, responses.declaration, attribution.declaration, localServers.declaration,
    ]
}

/// What a conversation asks its models with. It is stored with the conversation, so that later settings do not reach it.
struct ChatOptions: Sendable, Hashable {
    var model = ModelOptions()
    /// How far the model goes with tools; nil where it is given none.
    var mode: ToolMode?
    /// The folder for which tools were chosen, which is the one that they read.
    var toolFolder: ToolFolder.Known?
    /// Whether old turns that do not fit are summarised; otherwise they are left out.
    var summarises = false

    init() {}

    /// What the settings say for a new conversation.
    init(_ settings: FeatureSettings, isPlatform: Bool) {
        model.temperature = settings[ChatSettings.temperature] ?? (isPlatform ? 0.7 : nil)
        model.maxTokens = settings[ChatSettings.maxTokens]
        mode = settings[ChatSettings.tools] ? .readOnly : nil
        summarises = settings[ChatSettings.context] == .summarise
    }

    /// What is stored, with another mode that was chosen for this folder. All else stays, also what only a later version
    /// knows.
    static func changed(_ stored: JSON, to mode: ToolMode?, in folder: ToolFolder.Known) -> JSON {
        var object = stored.object ?? [:]
        object["tools"] = mode.map(Self.stored)
        object[ConversationSetup.folderOption] = nil
        object[ConversationSetup.folderIdentityOption] = nil
        if mode != nil { folder.store(in: &object) }
        return .object(object)
    }

    private static func stored(_ mode: ToolMode) -> JSON { mode == .readOnly ? true : mode.json }

    /// As it is stored.
    var json: JSON {
        var object: JSONObject = [:]
        object["temperature"] = model.temperature.map { .double($0) }
        object["top_p"] = model.topP.map { .double($0) }
        object["max_tokens"] = model.maxTokens.map { .int($0) }
        if !model.stop.isEmpty { object["stop"] = model.stop.json }
        object["seed"] = model.seed.map { .int($0) }
        object["effort"] = model.effort?.json
        if let mode {
            // An export leaves this out, whatever it says.
            object["tools"] = Self.stored(mode)
            toolFolder?.store(in: &object)
        }
        if summarises { object["summarises"] = true }
        return .object(object)
    }

    /// What was stored; a member of a later version is passed over.
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
