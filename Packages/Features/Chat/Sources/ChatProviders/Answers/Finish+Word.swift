package import Capabilities

extension ChatAnswer.Finish {
    /// One word for programs.
    package var word: String {
        switch self {
        case .stop: "stop"
        case .length: "length"
        case .calls: "calls"
        case .refused: "refused"
        case .other(let word): PlainText.escape(word)
        }
    }
}
