import Capabilities
import JSON
import MCPKit
import Registry

/// What the variables of a template can be completed to.
struct ResourceCompleter: Sendable {
    /// What the host's user has written so far.
    let value: String
    /// The other variables.
    let given: [String: String]
    let redactor: Redactor

    /// The protocol sends no more at once.
    private static let most = 100

    /// Conversations by the beginnings of their ids, and by words of their titles.
    func complete(_ conversations: [ToolLink]) -> MCPCompletions {
        let word = value.lowercased()
        return completions(
            conversations.filter { link in
                link.name.lowercased().hasPrefix(word) || link.title?.lowercased().contains(word) == true
            }.map(\.name))
    }

    /// The values of a parameter of a screen.
    ///
    /// - Parameter knowsHistory: whether the host may know what is found at the moment. What finds it answers anybody, and may
    ///   look into the history.
    func complete(
        _ parameter: ParameterDeclaration, of registry: Registry, _ host: Host, knowsHistory: Bool
    ) -> MCPCompletions {
        if parameter.isSecret { return MCPCompletions([]) }
        switch parameter.completion {
        case .words(let words): return matching(words)
        case .dynamic(let find), .dynamicOrFiles(let find):
            guard knowsHistory else { return MCPCompletions([]) }
            let given = JSONObject(given.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
            return matching(find(registry, host, given).map(\.word))
        case .nothing, .files, .directories: return MCPCompletions([])
        }
    }

    private func matching(_ words: [String]) -> MCPCompletions {
        let word = value.lowercased()
        return completions(words.filter { $0.lowercased().hasPrefix(word) })
    }

    private func completions(_ words: [String]) -> MCPCompletions {
        // A word with a secret would not be the word any more.
        let whole = words.filter { redactor.redact($0) == $0 }
        return MCPCompletions(
            Array(whole.prefix(Self.most)), total: whole.count, hasMore: whole.count > Self.most)
    }
}
