import Capabilities

/// What a server speaks, which decides how somebody signs in to it.
enum ServerKind: String, Choice, Hashable {
    /// A Kamiwaza platform: accounts, sessions, personal access tokens.
    case kamiwaza
    /// An agent gateway: one key.
    case gateway
    /// Anything else that takes a key as `Authorization: Bearer`.
    case openai

    /// What people call it.
    var name: String {
        switch self {
        case .kamiwaza: "Kamiwaza platform"
        case .gateway: "agent gateway"
        case .openai: "OpenAI-compatible server"
        }
    }
}
