public import ModelKit

/// How Anthropic's Messages are asked for what its models want in different ways.
public struct AnthropicOptions: Sendable, Hashable {
    /// How a model is told how much to think.
    public enum Thinking: Sendable, Hashable {
        /// By a number of tokens.
        case budget
        /// By a word; the model finds the number.
        case adaptive
        /// It cannot think.
        case none
    }

    /// How an answer is made to follow a schema.
    public enum SchemaWay: Sendable, Hashable {
        /// As the input of a tool that has to be called, which every model can.
        case tool
        /// By the server, which newer models need as they think always, or are asked to.
        case format
    }

    /// Whether what stays the same from turn to turn is marked, so that reading it again costs a tenth.
    public var marksCache = true
    /// The limit of an answer's tokens where the request names none, as Anthropic demands one; nil is by the model.
    public var maxTokens: Int?
    /// Nil is by the model's name.
    public var thinking: Thinking?
    public var schemaWay = SchemaWay.tool

    public init() {}

    /// The options to ask once more with, after a server has refused what this model does in another way; nil when the
    /// refusal is about something else.
    public func adapted(to refusal: ServerRefusal, model: String) -> AnthropicOptions? {
        let words = refusal.message.lowercased()
        var options = self
        if words.contains("max_tokens"), let limit = limit(named: words, model: model) {
            options.maxTokens = limit
        } else if words.contains("tool_choice"), schemaWay == .tool {
            options.schemaWay = .format
        } else if words.contains("thinking") || words.contains("effort") || words.contains("output_config") {
            // What was settled by an earlier refusal is not settled again.
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

    /// The limit that a refusal names, as in “max_tokens: 32000 > 8192, which is the maximum”.
    private func limit(named words: String, model: String) -> Int? {
        let asked = maxTokens ?? ClaudeModel(model).maxTokens
        return words.split { !$0.isNumber }.compactMap { Int($0) }.filter { 256..<asked ~= $0 }.max()
    }
}
