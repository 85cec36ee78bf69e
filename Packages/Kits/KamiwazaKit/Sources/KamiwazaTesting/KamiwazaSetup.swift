public import Capabilities
public import Cryptography
import HTTPServer
public import JSON
import Synchronization

/// The initial state of a test platform.
public struct KamiwazaSetup: Sendable {
    /// The accounts that can sign in: `ada` with the password `correct horse`.
    public var accounts = [Account("ada", password: "correct horse")]
    /// The identity providers: one that is enabled, and one that is not.
    public var providers = [
        Provider("google", name: "Google"), Provider("old", name: "Retired directory", isEnabled: false),
    ]
    /// How long access tokens are valid.
    public var accessLifetime: Duration = .seconds(300)
    /// How long a session may be refreshed.
    public var sessionLifetime: Duration = .seconds(1800)
    /// Whether sessions may be refreshed at all. Without it, asking for `offline_access` is refused.
    public var givesRefreshTokens = true
    /// Whether the realm refuses `offline_access`, as Keycloak does for a user or client without that role. In browser
    /// and device sign-in, the refusal comes after the user has signed in.
    public var refusesOfflineTokens = false
    /// Whether the values for a personal token are accepted only in the body, as in some versions.
    public var takesTokenRequestsAsBodyOnly = false
    /// The base path of the API. All other paths return a page of the web interface.
    public var apiPath = "/api"
    /// Where an OpenID configuration is published.
    public var openID = OpenIDPlace.realm
    /// How tokens are returned to the program that sent a browser to `/auth/login`.
    public var browserReturn = BrowserReturn.cookie
    /// The account that signs in at once in the browser. Nil if the user declines.
    public var browserUser: String? = "ada"
    /// How long a device has to wait between two polls.
    public var deviceInterval: Duration = .seconds(5)
    /// The entries of `/serving/deployments`.
    public var deployments: [JSON] = []
    /// How the platform tells of its tools.
    public var toolList = ToolList.discover
    /// The tools of the platform.
    public var tools: [Tool] = []
    /// The TLS context, or nil for plain HTTP.
    public var tls: TLSServerContext?
    /// The clock for the expiry of tokens.
    public var now: @Sendable () -> Timestamp = Timestamp.now

    /// A platform with one account and without deployments.
    public init() {}

    /// A user account.
    public struct Account: Sendable {
        /// The user name.
        public var name: String
        /// The password, compared literally.
        public var password: String
        /// The email address; nil for none.
        public var email: String?
        /// The groups that the platform reports for the user.
        public var groups: [String] = []
        /// The roles that the platform reports for the user.
        public var roles = ["user"]
        /// Whether sign-in is refused with 423, as after too many wrong passwords.
        public var isLocked = false
        /// Whether sign-in is refused even with the right password.
        public var isDisabled = false

        /// An account with the email address `name@lab.example`.
        public init(_ name: String, password: String) {
            self.name = name
            self.password = password
            email = "\(name)@lab.example"
        }
    }

    /// An identity provider.
    public struct Provider: Sendable {
        /// The id in addresses.
        public var alias: String
        /// The name to show.
        public var name: String
        /// Whether users may sign in with it. A disabled one is listed as such.
        public var isEnabled: Bool

        /// - Parameter alias: the id in addresses.
        public init(_ alias: String, name: String, isEnabled: Bool = true) {
            self.alias = alias
            self.name = name
            self.isEnabled = isEnabled
        }
    }

    /// A tool: an MCP server.
    public struct Tool: Sendable {
        /// The id of its deployment.
        public var id: String
        /// The name that people gave it.
        public var name: String
        /// The state of its deployment.
        public var status: String
        /// The address that the platform gives; nil for the one at which the platform serves it.
        public var url: String?
        /// The address of the server behind the platform; nil if nothing answers there.
        public var backend: String?

        /// A tool that is deployed, unless `status` says otherwise.
        public init(
            _ id: String, name: String, status: String = "DEPLOYED", url: String? = nil, backend: String? = nil
        ) {
            self.id = id
            self.name = name
            self.status = status
            self.url = url
            self.backend = backend
        }
    }

    /// How a platform tells of its tools.
    public enum ToolList: Sendable {
        /// By `/tool/discover`, as older platforms do.
        case discover
        /// By `/extensions`, as newer platforms do.
        case extensions
        /// Not at all.
        case nowhere
    }

    /// Where an OpenID configuration can be found.
    public enum OpenIDPlace: Sendable {
        /// No path has one.
        case nowhere
        /// Below the realm of the sign-in page, as in Keycloak.
        case realm
        /// Below the API.
        case api
    }

    /// How the browser hands the tokens to the program that waits for them.
    public enum BrowserReturn: Sendable {
        /// Only in a cookie of the browser, as the published API describes.
        case cookie
        /// In the query of the redirect address.
        case query
        /// In the fragment of the redirect address, which is not sent to a server.
        case fragment
    }
}
