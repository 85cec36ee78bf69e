/// What a server speaks, which decides how somebody signs in to it and how its models are asked.
public enum ServerKind: String, Choice, Hashable {
    /// A Kamiwaza platform: accounts, sessions, personal access tokens, deployments.
    case kamiwaza
    /// An agent gateway: one key, sessions and tools of its own.
    case gateway
    /// Anything else that takes a key as `Authorization: Bearer` and speaks as OpenAI does.
    case openai
}
