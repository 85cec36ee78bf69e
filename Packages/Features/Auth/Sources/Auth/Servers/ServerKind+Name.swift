import Capabilities

extension ServerKind {
    /// What people call it.
    var name: String {
        switch self {
        case .kamiwaza: "Kamiwaza platform"
        case .gateway: "agent gateway"
        case .openai: "OpenAI-compatible server"
        }
    }
}
