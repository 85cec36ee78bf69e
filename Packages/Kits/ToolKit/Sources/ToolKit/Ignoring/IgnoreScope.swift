/// The rules that hold in a folder: its own before those of the folders above.
final class IgnoreScope: Sendable {
    private let rules: [IgnoreRule]
    /// How much of a path is the folder's own, with its slash.
    private let base: Int
    private let parent: IgnoreScope?

    init(_ rules: [IgnoreRule], base: Int, within parent: IgnoreScope?) {
        self.rules = rules
        self.base = base
        self.parent = parent
    }

    /// Whether the entry itself is ignored; that a folder above it is, is for the walk to know, which does not enter it.
    func ignores(_ path: [UInt8], nameStart: Int, isFolder: Bool) -> Bool {
        var scope: IgnoreScope? = self
        while let current = scope {
            // "Within one level of precedence, the last matching pattern decides the outcome."
            for rule in current.rules.reversed() where isFolder || !rule.isForFolders {
                if rule.matches(path, from: rule.isName ? nameStart : current.base) { return !rule.isNegated }
            }
            scope = current.parent
        }
        return false
    }
}
