public import Capabilities
public import Cryptography
import HTTPServer
public import JSON
import Synchronization

/// What a test's platform is like when it starts.
public struct KamiwazaSetup: Sendable {
    public var accounts = [Account("ada", password: "correct horse")]
    public var providers = [
        Provider("google", name: "Google"), Provider("old", name: "Retired directory", isEnabled: false),
    ]
    /// How long access tokens are valid.
    public var accessLifetime: Duration = .seconds(300)
    /// How long a session may be refreshed.
    public var sessionLifetime: Duration = .seconds(1800)
    /// Whether sessions may be refreshed at all. Without it, asking for `offline_access` is refused.
    public var givesRefreshTokens = true
    /// Whether the realm refuses `offline_access` as Keycloak does for a user or client without that role. In a browser
    /// and on a device the person has signed in by then.
    public var refusesOfflineTokens = false
    /// Whether a request for a personal token counts only as a body, as in some versions.
    public var takesTokenRequestsAsBodyOnly = false
    /// Where the API is; outside of it is the web interface, which answers everything with a page.
    public var apiPath = "/api"
    /// Where an OpenID configuration is published.
    public var openID = OpenIDPlace.realm
    /// How the tokens come back to the program that sent a browser to `/auth/login`.
    public var browserReturn = BrowserReturn.cookie
    /// Who sits at the browser and signs in at once; nil is somebody who declines.
    public var browserUser: String? = "ada"
    /// How long a device has to wait between two questions.
    public var deviceInterval: Duration = .seconds(5)
    /// What `/serving/deployments` lists.
    public var deployments: [JSON] = []
    /// With TLS, or plainly.
    public var tls: TLSServerContext?
    /// The time by which tokens expire.
    public var now: @Sendable () -> Timestamp = ServerConfiguration().now

    public init() {}

    /// Somebody who has an account.
    public struct Account: Sendable {
        public var name: String
        public var password: String
        public var email: String?
        public var groups: [String] = []
        public var roles = ["user"]
        public var isLocked = false
        /// Whether the password is right and the account may not sign in all the same.
        public var isDisabled = false

        public init(_ name: String, password: String) {
            self.name = name
            self.password = password
            email = "\(name)@lab.example"
        }
    }

    /// An identity provider.
    public struct Provider: Sendable {
        public var alias: String
        public var name: String
        public var isEnabled: Bool

        public init(_ alias: String, name: String, isEnabled: Bool = true) {
            self.alias = alias
            self.name = name
            self.isEnabled = isEnabled
        }
    }

    public enum OpenIDPlace: Sendable {
        case nowhere
        /// Below the realm that the sign-in page belongs to, as Keycloak has it.
        case realm
        /// Below the API.
        case api
    }

    public enum BrowserReturn: Sendable {
        /// Only the browser has them, as a cookie of the platform: what the published API describes.
        case cookie
        /// In the query of the address that the browser is sent back to.
        case query
        /// In its fragment, which is not sent to a server.
        case fragment
    }
}

/// A time of day that stands still until a test moves it.
///
///     let time = MovableTime()
///     setup.now = time.read
///     time.advance(by: .seconds(301))
public final class MovableTime: Sendable {
    private let microseconds = Mutex<Int64>(1_800_000_000_000_000)

    public init() {}

    public var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

    /// The same as a function.
    public var read: @Sendable () -> Timestamp { { self.now } }

    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds.withLock { $0 += seconds * 1_000_000 + attoseconds / 1_000_000_000_000 }
    }
}
