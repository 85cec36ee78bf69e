import Capabilities
import Registry

/// The actions as a tree of words: `config` → `set`.
struct CommandTree: Sendable {
    /// A word, with its action and the words that may follow.
    struct Node: Sendable {
        let path: [String]
        var action: Action?
        /// The action to use if the next word is not a verb of this group.
        var defaultAction: Action?
        var children: [String: Node] = [:]

        /// The words that may follow, without the hidden ones.
        var visible: [Node] {
            children.values.filter { !$0.isHidden }.sorted { $0.path.joined() < $1.path.joined() }
        }

        var isHidden: Bool {
            (action?.isHidden ?? true) && defaultAction == nil && children.values.allSatisfy(\.isHidden)
        }
    }

    private(set) var root = Node(path: [])
    private(set) var aliases: [String: Action] = [:]

    /// - Parameter first: only commands that begin with this word are included, and all shortcuts.
    init(_ actions: ActionIndex, beginning first: String = "") {
        for action in actions.all {
            if let alias = action.alias { aliases[alias] = action }
            guard action.id.hasPrefix(first) else { continue }
            let words = action.id.utf8.split(separator: UInt8(ascii: ".")).map { String(Substring($0)) }
            guard first.isEmpty || words.first == first else { continue }
            Self.insert(action, at: words[...], into: &root)
        }
    }

    /// Finds the command for the words, and builds no more of the tree than that needs.
    ///
    /// - Parameter isMeant: whether the group's default action knows a word that is nearly a verb.
    /// - Throws: `UsageError` that suggests the nearest command.
    static func match(
        _ words: [String], among actions: ActionIndex, isMeant: (Action, String) -> Bool = { _, _ in false }
    ) throws(UsageError) -> Match {
        let branch = CommandTree(actions, beginning: words.first ?? "")
        let isKnown = words.first.map { branch.root.children[$0] != nil || branch.aliases[$0] != nil } ?? true
        if let slip = branch.slip(words, isMeant) { throw slip }
        return try (isKnown ? branch : CommandTree(actions)).match(words)
    }

    private static func insert(_ action: Action, at words: ArraySlice<String>, into node: inout Node) {
        guard let word = words.first else {
            node.action = action
            return
        }
        if action.isDefault, words.count == 1 { node.defaultAction = action }
        let path = node.path + [word]
        insert(action, at: words.dropFirst(), into: &node.children[word, default: Node(path: path)])
    }

    /// The command that the words stand for.
    enum Match {
        /// An action and its arguments.
        case action(Action, [String])
        /// A group whose verb is missing.
        case group(Node)
    }

    /// - Throws: `UsageError` with the nearest command.
    func match(_ words: [String]) throws(UsageError) -> Match {
        if let first = words.first, root.children[first] == nil, let action = aliases[first] {
            return .action(action, Array(words.dropFirst()))
        }
        let (node, rest) = descend(words)
        if let action = node.action ?? node.defaultAction { return .action(action, Array(rest)) }
        guard let word = rest.first else { return .group(node) }
        if word.hasPrefix("-") {
            let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
            let nearest = Suggestion.nearest(to: String(name), among: CommonOptions.declarations.map(\.name))
            throw UsageError.unknownOption(word, command: node.path, suggestion: nearest.map { "--\($0)" })
        }
        let known = node.visible.compactMap(\.path.last) + (node.path.isEmpty ? Array(aliases.keys) : [])
        throw UsageError.unknownCommand(node.path + [word], suggestion: Suggestion.nearest(to: word, among: known))
    }

    /// The deepest node that the words lead to, and the remaining words.
    func descend(_ words: [String]) -> (node: Node, rest: ArraySlice<String>) {
        var node = root
        var rest = words[...]
        while let word = rest.first, let child = node.children[word] {
            node = child
            rest = rest.dropFirst()
        }
        return (node, rest)
    }

    /// The typing mistake in a single word that the group's default action would take. Reported so that nothing is sent
    /// or paid for by mistake.
    private func slip(_ words: [String], _ isMeant: (Action, String) -> Bool) -> UsageError? {
        let (node, rest) = descend(words)
        guard node.action == nil, let action = node.defaultAction, let word = rest.first, word.first?.isLetter == true,
            word.allSatisfy({ $0.isLetter && $0.isLowercase || $0 == "-" })
        else { return nil }
        let given = ArgumentParser.places(in: Array(rest), of: action).count
        let places = action.parameters.filter { $0.form == .positional }
        // If the action cannot take the words anyway, the word was meant as a verb.
        let isTooMuch = given > places.count && places.last?.isRepeated != true
        // Two words of which the second contains a digit are a verb and a name, not a sentence: `chat shwo k7f3`.
        let isName = given == 2 && rest.count == 2 && rest.last.map { $0.contains(where: \.isNumber) } ?? false
        guard given == 1 || isTooMuch || isName, !isMeant(action, word) else { return nil }
        let suggestions = node.suggestions(for: word)
        if suggestions.isEmpty { return nil }
        return .slip(node.path + [word], suggestions: suggestions, mayBeMeant: !isTooMuch && !isName)
    }

    /// The node of a command, for its help page; nil if there is none.
    func node(at words: [String]) -> Node? {
        var node = root
        for word in words {
            guard let child = node.children[word] else { return nil }
            node = child
        }
        return node
    }
}

extension CommandTree.Node {
    /// The commands that a word in the place of a verb was most likely meant to be: a verb of this group with a similar
    /// spelling, or a verb of the same name in a group inside it.
    func suggestions(for word: String) -> [[String]] {
        if let verb = Suggestion.slip(of: word, among: visible.compactMap(\.path.last)) { return [path + [verb]] }
        return visible.flatMap(\.visible).filter { $0.path.last == word }.map(\.path)
    }
}
