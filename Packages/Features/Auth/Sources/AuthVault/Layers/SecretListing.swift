public import Capabilities

/// One line of the list of secrets; never the secret itself.
public struct SecretListing: Sendable, Hashable {
    public let name: SecretName
    /// Where the secret comes from when it is used.
    public let source: SecretSource
    /// When the kept one was last stored, where that is known.
    public let changed: Timestamp?
    /// Whether one is kept that the source hides.
    public let isShadowing: Bool
}
