import AuthSignIn
import Capabilities
import HTTPClient
import JSON
import KamiwazaKit

/// What signing in came to.
struct SignedIn: Record {
    let name: String
    let server: String
    let user: String?
    let credential: String
    let expires: Timestamp?

    init(_ profile: ServerProfile, _ session: Session) {
        name = profile.name
        server = profile.url.text
        user = session.userName
        expires = session.expiry
        switch session.kind {
        case .tokens: credential = "session"
        case .personal(_, let name): credential = name.map { "access token '\($0)'" } ?? "access token"
        }
    }

    static let fields: [Field<SignedIn>] = [
        Field("name", "What the server is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("user", "Who is signed in") { $0.user },
        Field("credential", "What is kept for it") { $0.credential },
        Field("expires", "When that ends, where it does") { $0.expires },
    ]
}

/// What signing out came to.
struct SignedOut: Record {
    let name: String
    let server: String

    static let fields: [Field<SignedOut>] = [
        Field("name", "What the server is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("state", "signed out", .state) { _ in SignInState.signedOut },
    ]
}

/// Whether requests to a server can be signed.
enum SignInState: String, Choice, Hashable {
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    case expired
    /// No key is kept for a server that may want none.
    case noKey = "no-key"

    /// Whether requests surely lack a credential.
    var isLacking: Bool { self == .signedOut || self == .expired }
}

/// How it stands with one server.
struct StatusRow: Record {
    let name: String
    let server: String
    var state = SignInState.signedOut
    var user: String?
    var credential: String?
    var expires: Timestamp?
    let inUse: Bool

    init(_ profile: ServerProfile, inUse: Bool) {
        name = profile.name
        server = profile.url.text
        self.inUse = inUse
    }

    static let fields: [Field<StatusRow>] = [
        Field("name", "What the server is called", .name) { $0.name },
        Field("state", "signed-in, signed-out, expired, or no-key where none may be needed", .state) { $0.state },
        Field("user", "Who is signed in") { $0.user },
        Field("credential", "session, access token or environment") { $0.credential },
        Field("expires", "When that ends, where it does") { $0.expires },
        Field("server", "Where its API is") { $0.server },
        Field("in_use", "Whether commands mean it when they name none") { $0.inUse },
    ]
}

/// The rows; one that was asked for by name decides about the exit code.
struct StatusRows: OutputValue {
    let rows: [StatusRow]
    let isAboutOne: Bool

    static var schema: Schema { [StatusRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { isAboutOne && rows.contains { $0.state.isLacking } ? .denied : .done }
}

/// Who a server says one is.
struct Identity: Record {
    let server: String
    let user: KamiwazaUser

    init(_ profile: ServerProfile, _ user: KamiwazaUser) {
        server = profile.url.text
        self.user = user
    }

    static let fields: [Field<Identity>] = [
        Field("user", "The user name", .name) { $0.user.name },
        Field("email", "The address for mail") { $0.user.email },
        Field("groups", "The groups") { $0.user.groups },
        Field("roles", "The roles") { $0.user.roles },
        Field("subject", "The account's id", .detail) { $0.user.subject },
        Field("server", "The server that says so") { $0.server },
    ]
}
