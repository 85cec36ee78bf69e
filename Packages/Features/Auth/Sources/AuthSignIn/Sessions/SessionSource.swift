/// What a stored session looks like from outside; another one means that the session may have changed.
public struct SessionMark: Sendable, Hashable {
    private let text: String

    public init(_ text: String) {
        self.text = text
    }
}

/// Where one session is kept and how it is renewed: what a `SessionKeeper` needs of the world.
public protocol SessionSource: Sendable {
    /// The session that is stored, or nil when nobody is signed in.
    func load() async throws -> Session?
    /// Changes whenever what is stored may have changed, also by another process; nil where only `load` can tell. It is
    /// asked before every request, so it must answer at once.
    func mark() throws -> SessionMark?
    /// Replaces what is stored.
    func store(_ session: Session) async throws
    /// Runs `body` while no other process, and nobody else here, runs another for the same session.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
    /// Asks the server for newer tokens.
    ///
    /// `SignInError.refused` says that the server will never renew this session; any other error leaves it as it is.
    func renew(_ session: Session) async throws -> Session
}
