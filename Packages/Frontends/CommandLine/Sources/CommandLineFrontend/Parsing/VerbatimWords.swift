import Registry

/// The commands that get all words as they are after some words of their own, as if `--` stood there. Known before anything
/// is composed, because common options are read then.
struct VerbatimWords {
    private let commands: [(words: [String], count: Int)]

    init(_ manifests: [Manifest]) {
        commands = manifests.flatMap { manifest in
            manifest.verbatim.map { ($0.split(separator: ".").map(String.init), $1) }
        }
    }

    /// Whether the next word is the first of those.
    func begin(after words: [String]) -> Bool {
        commands.contains { command, count in
            guard words.starts(with: command) else { return false }
            return words.dropFirst(command.count).count { !$0.hasPrefix("-") } == count
        }
    }
}
