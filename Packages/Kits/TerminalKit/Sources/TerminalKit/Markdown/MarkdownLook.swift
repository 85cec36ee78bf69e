/// How a document may be drawn.
struct MarkdownLook: Sendable {
    let level: ColorLevel
    /// Whether links are left to the terminal.
    let links: Bool

    init(level: ColorLevel, links: Bool) {
        self.level = level
        // Without escape sequences there are no links either.
        self.links = links && level != .none
    }

    /// Whether emphasis has to stay as it was written, because no style can say it.
    var showsMarks: Bool { level == .none }
}
