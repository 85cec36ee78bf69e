/// Who asks for a turn, as the gateway knows them.
public struct TurnClient: Sendable, Hashable {
    /// As the audit and the usage call them.
    public let name: String
    /// What tells its token from another one of the same name, and is not the token; nil for who has none of its own.
    public let credential: String?

    public init(_ name: String, credential: String? = nil) {
        self.name = name
        self.credential = credential
    }

    /// Whose budget counts, where its token may have one.
    var budgeted: String? { credential == nil ? nil : name }
}
