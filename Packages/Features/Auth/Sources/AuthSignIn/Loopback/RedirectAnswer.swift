public import Capabilities

/// What a browser brought back from signing in.
public enum RedirectAnswer: Sendable {
    /// To be exchanged at the token endpoint.
    case code(Secret)
    /// Tokens themselves, from servers that know no codes.
    case tokens(TokenAnswer)
}
