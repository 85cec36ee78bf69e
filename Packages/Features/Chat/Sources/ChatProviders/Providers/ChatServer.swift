public import OpenAIDialect

/// A server that the settings name: a profile.
public struct ChatServer: Sendable {
    /// What it speaks.
    public enum Kind: Sendable, Hashable {
        /// A Kamiwaza platform, which has deployments.
        case kamiwaza
        /// An agent behind HTTP, which runs its tools itself.
        case gateway
        /// OpenAI's Chat Completions, with these quirks.
        case compatible(OpenAIQuirks)
    }

    /// The profile's name, under which an `Authenticator` knows the server too.
    public var name: String
    /// Where its API begins; `/v1` may be left out.
    public var address: String
    public var kind: Kind

    public init(name: String, address: String, kind: Kind) {
        self.name = name
        self.address = address
        self.kind = kind
    }
}
