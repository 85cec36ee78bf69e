import HTTPCore

/// Through which servers requests go out, given by the caller and never read from the process.
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for http addresses, such as `http://proxy.example:3128`; it may contain user and password.
    public var http: String?
    public var https: String?
    /// The names and networks that are reached directly, separated by commas.
    public var except: String?

    public init(http: String? = nil, https: String? = nil, except: String? = nil) {
        self.http = http
        self.https = https
        self.except = except
    }

    public static let none = ProxySettings()

    /// Takes them from the usual variables. `HTTP_PROXY` in capitals is not one: in a CGI program a client could set
    /// it by a header.
    public init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = value("http_proxy") ?? all
        https = value("https_proxy", "HTTPS_PROXY") ?? all
        // A server on this machine is never meant to be reached through another one.
        except = (value("no_proxy", "NO_PROXY").map { "\($0)," } ?? "") + "localhost,127.0.0.0/8,::1"
    }

    /// Whether libcurl can make something of it; its own words on that would quote the password.
    static func isUsable(_ proxy: String) throws(HTTPError) -> Bool {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        guard let (scheme, _) = try URLParts.server(ofProxy: proxy) else { return false }
        return schemes.contains(scheme.lowercased())
    }

    /// Where it listens; libcurl takes 1080 where nothing is said, whatever the scheme but https.
    static func port(of proxy: String) throws(HTTPError) -> Int? {
        guard let (scheme, port) = try URLParts.server(ofProxy: proxy) else { return nil }
        return port ?? (scheme.lowercased() == "https" ? 443 : 1080)
    }

    func proxy(for url: HTTPURL) -> String? { url.scheme == .https ? https : http }
}
