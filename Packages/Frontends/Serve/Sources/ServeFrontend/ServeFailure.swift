import Capabilities

/// Why nothing is served, or not this.
struct ServeFailure: Failure, Hashable {
    /// The reason as a program knows it.
    let kind: FailureKind<ServeFailure>
    let message: String
    let exit: ExitCode

    init(_ kind: FailureKind<ServeFailure>, _ message: String, exit: ExitCode = .usage) {
        (self.kind, self.message, self.exit) = (kind, message, exit)
    }

    var code: String { kind.description }
}

extension FailureKind<ServeFailure> {
    /// The standard input is nobody's who speaks the protocol.
    static var noHost: Self { "serve.no-host" }
    /// The options contradict each other.
    static var options: Self { "serve.options" }
    /// The token cannot be used.
    static var token: Self { "serve.token" }
    /// A result is too large for a host.
    static var tooLarge: Self { "serve.too-large" }
    /// Something was to be decided that a host does not decide.
    static var notForHosts: Self { "serve.not-for-hosts" }
    /// Too much is watched.
    static var watches: Self { "serve.watches" }
    /// There is nothing to read, although it may be read.
    static var nothing: Self { "serve.nothing" }
}
