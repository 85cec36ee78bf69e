public import Capabilities
public import HTTPClient

/// Who asks.
public enum KamiwazaCredential: Sendable {
    /// Nobody in particular, for what needs no sign-in.
    case none
    /// An access token or a personal access token.
    case bearer(Secret)
    /// Whoever the signer knows; after a 401 it may renew the credential, and the request is repeated once.
    case signer(RequestSigner)
}
