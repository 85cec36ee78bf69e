import Capabilities
import Registry

/// The actions as words: `config` → `set`.
struct CommandTree: Sendable {
    /// A word, with the action it means and the words that may follow.
    struct Node: Sendable {
        let path: [String]
        var action: Action?
        /// The action meant when the next word is no verb of this group.
        var standard: Action?
        var children: [String: Node] = [:]

        /// The words that may follow, without the hidden ones.
        var visible: [Node] {
            children.values.filter { !$0.isHidden }.sorted { $0.path.joined() < $1.path.joined() }
        }

        var isHidden: Bool {
            (action?.isHidden ?? true) && standard == nil && children.values.allSatisfy(\.isHidden)
        }
    }

    private(set) var root = Node(path: [])
    private(set) var aliases: [String: Action] = [:]

    /// - Parameter first: leaves out what begins with another word, except shortcuts.
    init(_ actions: ActionIndex, beginning first: String = "") {
        for action in actions.all {
            if let alias = action.alias { aliases[alias] = action }
            guard action.id.hasPrefix(first) else { continue }
            let words = action.id.utf8.split(separator: UInt8(ascii: ".")).map { String(Substring($0)) }
            guard first.isEmpty || words.first == first else { continue }
            Self.insert(action, at: words[...], into: &root)
        }
    }

    /// What the words mean, for which no more of the tree is made than is needed.
    ///
    /// - Throws: `UsageError` that suggests the nearest command.
    static func match(_ words: [String], among actions: ActionIndex) throws(UsageError) -> Match {
        let branch = CommandTree(actions, beginning: words.first ?? "")
        let isKnown = words.first.map { branch.root.children[$0] != nil || branch.aliases[$0] != nil } ?? true
        return try (isKnown ? branch : CommandTree(actions)).match(words)
    }

    private static func insert(_ action: Action, at words: ArraySlice<String>, into node: inout Node) {
        guard let word = words.first else {
            node.action = action
            return
        }
        if action.isDefault, words.count == 1 { node.standard = action }
        let path = node.path + [word]
        insert(action, at: words.dropFirst(), into: &node.children[word, default: Node(path: path)])
    }

    /// What the words mean.
    enum Match {
        /// An action, and the words that are its arguments.
        case action(Action, [String])
        /// A group whose verb is missing.
        case group(Node)
    }

    /// - Throws: `UsageError` that suggests the nearest command.
    func match(_ words: [String]) throws(UsageError) -> Match {
        var node = root
        var rest = words[...]
        if let first = words.first, node.children[first] == nil, let action = aliases[first] {
            return .action(action, Array(rest.dropFirst()))
        }
        while let word = rest.first, let child = node.children[word] {
            node = child
            rest = rest.dropFirst()
        }
        if let action = node.action ?? node.standard { return .action(action, Array(rest)) }
        guard let word = rest.first else { return .group(node) }
        if word.hasPrefix("-") { throw UsageError.unknownOption(word, command: node.path) }
        let known = node.visible.compactMap(\.path.last) + (node.path.isEmpty ? Array(aliases.keys) : [])
        throw UsageError.unknownCommand(node.path + [word], suggestion: Suggestion.nearest(to: word, among: known))
    }

    /// The node of a command, for its help page; nil when there is none.
    func node(at words: [String]) -> Node? {
        var node = root
        for word in words {
            guard let child = node.children[word] else { return nil }
            node = child
        }
        return node
    }
}
