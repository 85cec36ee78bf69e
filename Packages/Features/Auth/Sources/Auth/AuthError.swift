import AuthSignIn
public import Capabilities
import HTTPClient

/// Why Auth rejected a command about servers, credentials or sign-in.
public enum AuthError: Failure, Hashable {
    /// No profile exists.
    case noServer
    case unknownProfile(String, known: [String])
    case ambiguousServer(known: [String])
    case badProfileName(String)
    /// The profile's server address is not valid.
    case badAddress(profile: String, why: String)
    /// A certificate authority file cannot be used.
    case badAuthority(file: String, why: String)
    /// A key or session would be sent to a server that it does not belong to.
    case wrongDestination(credential: String, host: String, meant: [String])
    /// The profile's server does not support the operation.
    case notOffered(String, profile: String)
    case unknownProvider(String, known: [String])
    /// The server rejected the token.
    case tokenRefused(server: String)
    case secretNotFound(String, known: [String])
    /// The server has no personal access token with that id.
    case tokenNotFound(String, profile: String)
    case nothingToImport(String)
    case noToken(String)
    case emptyTokenName
    /// The sign-in method needs a person, but nobody is there.
    case needsPerson(String, profile: String)

    public var code: String {
        switch self {
        case .noServer: "auth.no-server"
        case .unknownProfile: "auth.profile-unknown"
        case .ambiguousServer: "auth.profile-ambiguous"
        case .badProfileName: "auth.profile-name"
        case .badAddress: "auth.server-address"
        case .badAuthority: "auth.authority"
        case .wrongDestination: "auth.wrong-destination"
        case .notOffered: "auth.not-offered"
        case .unknownProvider: "auth.provider-unknown"
        case .tokenRefused: "auth.token-refused"
        case .secretNotFound: "auth.secret-unknown"
        case .tokenNotFound: "auth.token-unknown"
        case .nothingToImport: "auth.import"
        case .noToken: "auth.no-token"
        case .emptyTokenName: "auth.token-name"
        // The same code as any unanswered question.
        case .needsPerson: "interaction.unanswered"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .wrongDestination, .tokenRefused, .noToken: .denied
        case .notOffered: .failed
        case .needsPerson: .unanswered
        default: .usage
        }
    }

    public var message: String {
        switch self {
        case .noServer: "no server is configured; add one: martlet auth server add NAME ADDRESS"
        case .unknownProfile(let name, let known):
            "no server is named '\(PlainText.escape(name))'\(Suggestion.text(for: name, among: known)); "
                + (known.isEmpty
                    ? "none is configured; add one: martlet auth server add NAME ADDRESS" : "known: \(list(known))")
        case .ambiguousServer(let known):
            "several servers are configured and none is the default; name one of \(list(known)), or choose a default: "
                + "martlet auth server use NAME"
        case .badProfileName(let name):
            "'\(PlainText.escape(name))' is not a valid server name; use up to 64 lower-case letters, digits and "
                + "hyphens, starting with a letter or digit"
        case .badAddress(let profile, let why):
            "the server of the profile \(profile) is not valid: \(why); correct it with martlet auth server add"
        case .badAuthority(let file, let why):
            "cannot use \(PlainText.escape(file)) as a certificate authority: \(why); name a PEM file with the "
                + "authority's certificate"
        case .wrongDestination(let credential, let host, let meant):
            "did not send the credential '\(credential)' to \(host): "
                + (meant.isEmpty ? "no server is known for it" : "it is only for \(list(meant))")
        case .notOffered(let what, let profile): "the server \(profile) does not offer \(what)"
        case .unknownProvider(let name, let known):
            "the server has no sign-in provider named '\(PlainText.escape(name))'; "
                + (known.isEmpty ? "it has none" : "known: \(list(known))")
        case .tokenRefused(let server):
            "\(server) rejected the token, so it was not saved; check that the token is complete and has not expired"
        case .secretNotFound(let name, let known):
            "no secret is named '\(PlainText.escape(name))'\(Suggestion.text(for: name, among: known)); "
                + "'martlet auth secret list' shows the names"
        case .tokenNotFound(let id, let profile):
            "the server \(profile) has no access token '\(PlainText.escape(id))'; 'martlet auth pat list' shows the "
                + "tokens"
        case .nothingToImport(let why): why
        case .emptyTokenName: "the token needs a name; give it one that shows its purpose, such as ci"
        case .needsPerson(let what, let profile):
            "\(what) needs a person at a terminal; without a terminal, sign in with an access token: martlet auth "
                + "login \(profile) --token-stdin"
        case .noToken(let profile):
            "not signed in to the server \(profile); sign in first: martlet auth login \(profile)"
        }
    }

    private func list(_ names: [String]) -> String { names.map { PlainText.escape($0) }.joined(separator: ", ") }
}

/// A session has ended and cannot be renewed. The message names the server and the command to sign in again.
struct SessionEnded: Failure {
    let code = "auth.sign-in-again"
    let exit = ExitCode.denied
    let message: String
    let cause: (any Error)?

    init(_ profile: ServerProfile, _ session: Session?, now: Timestamp, cause: SignInError) {
        let server = profile.url.server
        let what =
            switch session?.kind {
            case .personal where session?.expiry.map { $0 <= now } ?? false:
                "the access token for \(server) has expired"
            case .personal where profile.kind == .kamiwaza:
                "\(server) no longer accepts the access token; it may have been revoked"
            case .personal: "\(server) no longer accepts the key"
            default: "the session at \(server) has ended and cannot be renewed"
            }
        message = "\(what); sign in again: martlet auth login \(profile.name)"
        self.cause = cause.cause
    }
}
