public import Capabilities

extension ChatAnswer.Finish {
    /// The word for a store, such as `length` or `other:paused`.
    public var word: String {
        switch self {
        case .stop: "stop"
        case .length: "length"
        case .calls: "calls"
        case .refused: "refused"
        case .other(let reason): "other:\(reason)"
        }
    }

    /// Reads the word back; one that is not known here is a reason of its own.
    public init(word: String) {
        switch word {
        case "stop": self = .stop
        case "length": self = .length
        case "calls": self = .calls
        case "refused": self = .refused
        default: self = .other(word.hasPrefix("other:") ? String(word.dropFirst("other:".count)) : word)
        }
    }
}
