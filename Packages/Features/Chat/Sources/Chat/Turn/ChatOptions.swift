import Capabilities
import ChatHistory
import JSON
import Settings
import TurnLoop

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
