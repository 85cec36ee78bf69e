/// Where one session is kept and how it is renewed: what a `SessionKeeper` needs of the world.
public protocol SessionSource: Sendable {
    /// The session that is stored, or nil when nobody is signed in.
    func load() async throws -> Session?
    /// Replaces what is stored.
    func store(_ session: Session) async throws
    /// Runs `body` while no other process, and nobody else here, runs another for the same session.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
    /// Asks the server for newer tokens.
    ///
    /// `SignInError.refused` says that the server will never renew this session; any other error leaves it as it is.
    func renew(_ session: Session) async throws -> Session
}
