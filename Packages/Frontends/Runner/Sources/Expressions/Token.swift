/// A word of an expression.
struct Token: Hashable {
    enum Kind: Hashable {
        case number(String)
        case text(String)
        case name(String)
        /// An operator or a bracket.
        case sign(String)
        case end
    }

    let kind: Kind
    let offset: Int

    /// The token as a message names it.
    var words: String {
        switch kind {
        case .number(let text), .name(let text), .sign(let text): "'\(text)'"
        case .text: "a text"
        case .end: "the end"
        }
    }
}
