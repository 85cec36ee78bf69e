/// A piece of what somebody wrote.
struct Token: Hashable {
    enum Kind {
        case word
        /// What stood between quotation marks, backticks or fences.
        case quoted
        /// A JSON object.
        case json
        /// A sign between words; a line break is one too.
        case mark
    }

    var kind: Kind
    var text: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// A word in the form in which it is compared; empty for all else.
    var lower: String { kind == .word ? text.lowercased() : "" }

    func isMark(_ sign: String) -> Bool { kind == .mark && text == sign }
}
