/// What a model's name says of what it takes.
struct ClaudeModel {
    /// Such as 4.5; nil where the name has no number.
    private var version: (major: Int, minor: Int)?
    private let isClaude: Bool

    /// - Parameter name: As vendors and clouds write it: `claude-3-7-sonnet-20250219`, `anthropic/claude-sonnet-4.5`,
    ///   `us.anthropic.claude-opus-4-1-20250805-v1:0`.
    init(_ name: String) {
        let words = name.split { !$0.isLetter && !$0.isNumber }.drop { $0 != "claude" }
        isClaude = !words.isEmpty
        // Dates are longer, and "v1" is no number.
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

    /// A limit of an answer's tokens that the model takes, with room for its thoughts.
    var maxTokens: Int {
        guard isClaude else { return 4096 }
        guard let version, version < (4, 0) else { return 32_000 }
        if version >= (3, 7) { return 32_000 }
        return version >= (3, 5) ? 8192 : 4096
    }
}
