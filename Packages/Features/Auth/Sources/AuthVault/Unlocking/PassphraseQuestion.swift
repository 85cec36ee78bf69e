/// What a person is asked about the vault's passphrase.
public enum PassphraseQuestion: Sendable, Hashable {
    /// The passphrase of the vault; `attempt` counts from 1.
    case unlock(attempt: Int)
    /// A new passphrase; an empty one means a key file instead.
    case new
    /// The new one once more.
    case again
    /// A new one, after two that were not the same.
    case different

    /// The id by which a run without a terminal can be given the answer.
    public var id: String {
        switch self {
        case .unlock: "auth.passphrase"
        case .new, .different: "auth.new-passphrase"
        case .again: "auth.new-passphrase-again"
        }
    }

    /// The question in words.
    public var prompt: String {
        switch self {
        case .unlock(1): "Passphrase of the vault with your keys and sign-ins"
        case .unlock: "That was not the passphrase of the vault; try again"
        case .new: "New passphrase for the vault with your keys and sign-ins (empty for a key file instead)"
        case .again: "The same passphrase again"
        case .different: "The two differ; type the new passphrase once more (empty for a key file instead)"
        }
    }
}
