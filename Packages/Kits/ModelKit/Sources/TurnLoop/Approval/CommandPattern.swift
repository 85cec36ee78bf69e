import Capabilities

/// A pattern for commands, word by word: `git status`, `swift *`, `npm run test*`.
///
/// `*` stands for anything within a word, and at the end for more words too.
struct CommandPattern {
    let text: String
    private let words: [String]
    private let takesMore: Bool

    init(_ pattern: String) {
        text = pattern
        words = pattern.split(whereSeparator: \.isWhitespace).map(String.init)
        takesMore = words.last.map { $0.hasSuffix("*") && !$0.hasSuffix("\\*") } ?? true
    }

    /// Whether it speaks of nothing but one program with these words.
    func fits(_ given: some Collection<String>) -> Bool {
        var rest = given[...]
        for (index, word) in words.enumerated() {
            guard let next = rest.popFirst() else { return index == words.count - 1 && word == "*" }
            guard Self.matches(word, next) else { return false }
        }
        return rest.isEmpty || takesMore
    }

    /// How surely a denial or a question concerns a text for a shell.
    func concerns(_ text: String) -> CommandFit {
        if case .plain(let parts) = ShellCommand(text) { return parts.map(concerns).max() ?? .no }
        // What could not be read may be anything.
        return max(mentioned(in: ShellCommand.words(in: text)), .perhaps)
    }

    /// The same of one command. What runs others may run what it names, and what it does not show.
    func concerns(_ given: [String]) -> CommandFit {
        if fits(given) || byName.fits(Self.named(given)) { return .yes }
        let mentioned = mentioned(in: given.flatMap(ShellCommand.words))
        return CommandReach.runsOthers(given) ? max(mentioned, .perhaps) : min(mentioned, .perhaps)
    }

    /// A pattern by which an answer about a command is remembered: its program, and what that is told to do. Nil where that
    /// would say more than was asked.
    init?(remembering command: String) {
        guard case .plain(let parts) = ShellCommand(command), parts.count == 1, let words = parts.first,
            CommandReach.canBeRemembered(words)
        else { return nil }
        // The second word of `git log -3` or `swift build` is what the program is to do.
        let order = words.dropFirst().first ?? ""
        let isOrder = !order.isEmpty && !order.hasPrefix("-") && order.allSatisfy { $0 == "-" || "a"..."z" ~= $0 }
        if CommandReach.needsOrder(words[0]), !isOrder { return nil }
        self.init((words.prefix(isOrder ? 2 : 1).map(Glob.escape) + ["*"]).joined(separator: " "))
    }

    /// Whether the words that it speaks of stand anywhere. With options between them it may still be meant.
    private func mentioned(in loose: [String]) -> CommandFit {
        let pattern = byName
        guard let program = pattern.words.first else { return .yes }
        let rest = pattern.words.dropFirst().filter { $0 != "*" }
        var best = CommandFit.no
        var count = 0
        for start in loose.indices where Self.matches(program, Self.named([loose[start]])[0]) {
            count += 1
            // A text that names it so often wants to take long.
            if count > 100 { return max(best, .perhaps) }
            let following = Array(loose[start...])
            if pattern.fits(Self.named(Array(following.prefix(pattern.words.count)))) { return .yes }
            var wanted = rest[...]
            for word in following.dropFirst() {
                if let next = wanted.first, Self.matches(next, word) { wanted.removeFirst() }
            }
            let hasOptions = following.dropFirst().contains { $0.hasPrefix("-") }
            let asksForOptions = rest.contains { $0.hasPrefix("-") }
            if hasOptions, wanted.isEmpty || asksForOptions { best = .perhaps }
        }
        return best
    }

    /// The same about the program wherever it lies.
    private var byName: CommandPattern {
        guard let first = words.first, first.contains("/") else { return self }
        return CommandPattern(Self.named(words).joined(separator: " "))
    }

    /// A program by its name alone, wherever it lies.
    private static func named(_ words: [String]) -> [String] {
        guard let first = words.first, let name = first.split(separator: "/").last else { return words }
        return [String(name)] + words.dropFirst()
    }

    /// A slash is nothing special in a command.
    private static func matches(_ pattern: String, _ word: String) -> Bool {
        Glob.matchesWide(pattern, word)
    }
}

/// How surely a rule speaks of a command.
enum CommandFit: Comparable {
    case no, perhaps, yes
}
