import AuthSignIn
public import Capabilities
import HTTPClient

/// Why something about servers, credentials or signing in was refused here, before any server was asked.
public enum AuthError: Failure, Hashable {
    /// No profile names a server.
    case noServer
    case unknownProfile(String, known: [String])
    case ambiguousServer(known: [String])
    case badProfileName(String)
    /// The profile's server is no address.
    case badAddress(profile: String, why: String)
    /// A file that is to hold authorities cannot be used.
    case badAuthority(file: String, why: String)
    /// A key or session would go to a server that it was not made for.
    case wrongDestination(credential: String, host: String, meant: [String])
    /// The server of a profile is of a kind that cannot do this.
    case notOffered(String, profile: String)
    case unknownProvider(String, known: [String])
    /// The server did not take the token that was given.
    case tokenRefused(server: String)
    case secretNotFound(String, known: [String])
    /// The server knows no personal access token of that id.
    case tokenNotFound(String, profile: String)
    case nothingToImport(String)
    case noToken(String)
    case emptyTokenName
    /// A way to sign in that needs a person, and nobody is there.
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
        // As any other question that nobody was there to answer.
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
        case .noServer: "no server is set up yet; add one: martlet auth server add NAME ADDRESS"
        case .unknownProfile(let name, let known):
            "there is no server named '\(PlainText.escape(name))'\(Suggestion.text(for: name, among: known)); "
                + (known.isEmpty
                    ? "none is set up yet: martlet auth server add NAME ADDRESS" : "known: \(list(known))")
        case .ambiguousServer(let known):
            "several servers are set up and none is in use; name one of \(list(known)), or choose one: "
                + "martlet auth server use NAME"
        case .badProfileName(let name):
            "'\(PlainText.escape(name))' cannot name a server; use up to 64 lower-case letters, digits and hyphens, "
                + "beginning with a letter or digit"
        case .badAddress(let profile, let why):
            "the server of the profile \(profile) cannot be used: \(why); mend it with martlet auth server add"
        case .badAuthority(let file, let why):
            "\(PlainText.escape(file)) cannot vouch for a server: \(why); name a PEM file with the certificate of the "
                + "authority"
        case .wrongDestination(let credential, let host, let meant):
            "the credential '\(credential)' was not sent to \(host): it was made for "
                + (meant.isEmpty ? "no server that is known" : list(meant))
        case .notOffered(let what, let profile): "the server of the profile \(profile) does not offer \(what)"
        case .unknownProvider(let name, let known):
            "the server has no sign-in provider '\(PlainText.escape(name))'; "
                + (known.isEmpty ? "it has none at all" : "it has \(list(known))")
        case .tokenRefused(let server):
            "\(server) did not accept the token, so it was not kept; check that it is whole and has not expired"
        case .secretNotFound(let name, let known):
            "there is no secret '\(PlainText.escape(name))'\(Suggestion.text(for: name, among: known)); "
                + "'martlet auth secret list' shows the names"
        case .tokenNotFound(let id, let profile):
            "the server of the profile \(profile) has no access token '\(PlainText.escape(id))'; "
                + "'martlet auth pat list' shows them"
        case .nothingToImport(let why): why
        case .emptyTokenName: "a token needs a name by which it is found again; say what it is for, such as ci"
        case .needsPerson(let what, let profile):
            "\(what) needs somebody at a terminal, and nobody is there; without anybody, sign in with an access token: "
                + "martlet auth login \(profile) --token-stdin"
        case .noToken(let profile):
            "nobody is signed in to the server of the profile \(profile); sign in first: martlet auth login \(profile)"
        }
    }

    private func list(_ names: [String]) -> String { names.map { PlainText.escape($0) }.joined(separator: ", ") }
}

/// A session has ended for good, told with the server and the command that mends it.
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
                "\(server) does not accept the access token any more; it may have been revoked"
            case .personal: "\(server) does not accept the key any more"
            default: "the session at \(server) has ended and cannot be renewed"
            }
        message = "\(what); sign in again: martlet auth login \(profile.name)"
        self.cause = cause.cause
    }
}
