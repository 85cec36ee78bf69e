import Capabilities
import GatewayModels

/// What answers: a provider, whose calls are done here, or the `claude` command, which does its calls itself.
enum Backend: Sendable {
    case provider(any ModelProvider)
    case claude(ClaudeCommand)

    /// Whether it was merely found on this machine, so that it is asked only by its name.
    var isFound: Bool {
        if case .provider(let provider) = self { provider.isFound } else { false }
    }
}

/// A model that was found, and who has it. An object, since every request holds one.
final class ModelChoice: Sendable {
    let backend: Backend
    let description: ModelDescription

    init(backend: Backend, description: ModelDescription) {
        self.backend = backend
        self.description = description
    }

    var name: String { "\(description.provider)/\(description.id)" }
}

extension ClaudeCommand {
    static let provider = "claude"

    /// The command lists no models. These words it understands in any version; `default` leaves the choice to it.
    static let models = ["default", "opus", "sonnet", "haiku"].map { id in
        ModelDescription(
            id: id, provider: provider, name: "Claude Code (\(id))", abilities: [.tools, .images, .reasoning])
    }
}
