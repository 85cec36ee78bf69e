public import ModelKit

/// Options of requests that differ between Anthropic's models.
public struct AnthropicOptions: Sendable, Hashable {
    /// How the reasoning effort is expressed.
    public enum Thinking: Sendable, Hashable {
        /// As a number of tokens.
        case budget
        /// As a word, from which the model derives the number.
        case adaptive
        /// The model has no reasoning.
        case none
    }

    /// How an answer is made to follow a schema.
    public enum SchemaWay: Sendable, Hashable {
        /// As the input of a required tool, which every model supports.
        case tool
        /// By the server. Newer models need this, because they always reason or were asked to.
        case format
    }

    /// Whether stable parts are marked for the cache, so that reading them again costs a tenth.
    public var marksCache = true
    /// The token limit of an answer if the request has none, because Anthropic requires one; nil selects it by the
    /// model.
    public var maxTokens: Int?
    /// Nil selects it by the model's name.
    public var thinking: Thinking?
    /// How a schema is enforced. A request with reasoning uses `.format` in any case.
    public var schemaWay = SchemaWay.tool

    /// The defaults, which suit most models.
    public init() {}

    /// The options for a retry after a server has refused something that this model does in another way; nil if the
    /// refusal is about something else.
    public func adapted(to refusal: ServerRefusal, model: String) -> AnthropicOptions? {
        let words = refusal.message.lowercased()
        var options = self
        if words.contains("max_tokens"), let limit = limit(named: words, model: model) {
            options.maxTokens = limit
        } else if words.contains("tool_choice"), schemaWay == .tool {
            options.schemaWay = .format
        } else if words.contains("thinking") || words.contains("effort") || words.contains("output_config") {
            // Something that an earlier refusal has settled is not changed again.
            guard thinking == nil else { return nil }
            switch ClaudeModel(model).thinking {
            case .budget where words.contains("adaptive"): options.thinking = .adaptive
            case .adaptive: options.thinking = .budget
            default: return nil
            }
        } else {
            return nil
        }
        return options
    }

    /// The limit in a refusal, as in “max_tokens: 32000 > 8192, which is the maximum”.
    private func limit(named words: String, model: String) -> Int? {
        let asked = maxTokens ?? ClaudeModel(model).maxTokens
        return words.split { !$0.isNumber }.compactMap { Int($0) }.filter { 256..<asked ~= $0 }.max()
    }
}

/// What a model's name reveals about its options.
struct ClaudeModel {
    /// Such as 4.5; nil if the name has no number.
    private var version: (major: Int, minor: Int)?
    private let isClaude: Bool

    /// - Parameter name: in the form of vendors and clouds: `claude-3-7-sonnet-20250219`,
    ///   `anthropic/claude-sonnet-4.5`, `us.anthropic.claude-opus-4-1-20250805-v1:0`.
    init(_ name: String) {
        let words = name.split { !$0.isLetter && !$0.isNumber }.drop { $0 != "claude" }
        isClaude = !words.isEmpty
        // Dates are longer, and "v1" is not a number.
        let numbers = words.compactMap { $0.count <= 2 ? Int($0) : nil }
        guard let major = numbers.first else { return }
        let place = words.firstIndex { Int($0) == major } ?? words.startIndex
        let next = words.dropFirst(place - words.startIndex + 1).first
        let minor = next.flatMap { $0.count <= 2 ? Int($0) : nil }
        version = (major, minor ?? 0)
    }

    var thinking: AnthropicOptions.Thinking {
        guard isClaude else { return .budget }
        guard let version else { return .adaptive }
        if version >= (4, 6) { return .adaptive }
        return version >= (3, 7) ? .budget : .none
    }

    /// A token limit that the model accepts, with room for its reasoning.
    var maxTokens: Int {
        guard isClaude else { return 4096 }
        guard let version, version < (4, 0) else { return 32_000 }
        if version >= (3, 7) { return 32_000 }
        return version >= (3, 5) ? 8192 : 4096
    }
}
