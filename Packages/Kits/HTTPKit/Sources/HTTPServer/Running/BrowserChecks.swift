import HTTPCore

/// Which web pages may use the server from a browser. Without it none may but the server's own.
public struct CrossOriginRules: Sendable {
    /// Such as `https://app.example.com`, as a browser writes it; `*` stands for any.
    public var origins: Set<String>
    /// Header lines that scripts may send.
    public var headers: [String]
    /// Header lines of answers that scripts may read.
    public var exposed: [String]
    /// How long a browser need not ask again.
    public var age: Duration

    public init(
        origins: Set<String>, headers: [String] = ["Authorization", "Content-Type", "X-API-Key"],
        exposed: [String] = [], age: Duration = .seconds(600)
    ) {
        self.origins = origins
        self.headers = headers
        self.exposed = exposed
        self.age = age
    }

    func allows(_ origin: String) -> Bool {
        origins.contains(origin) || origins.contains("*") && origin != "null"
    }
}

/// What follows from the `Origin` line of a request.
enum OriginVerdict {
    /// No browser, or a page of this server itself.
    case own
    case allowed(String)
    case refused

    init(_ head: HTTPRequestHead, _ rules: CrossOriginRules?, isSecure: Bool) {
        guard let origin = head.headers["Origin"] else {
            self = .own
            return
        }
        let scheme = isSecure ? "https://" : "http://"
        if let host = head.host, origin.lowercased() == (scheme + host).lowercased() {
            self = .own
        } else if let rules, rules.allows(origin) {
            self = .allowed(origin)
        } else {
            self = .refused
        }
    }
}

extension CrossOriginRules {
    /// The answer to a browser that asks before it sends.
    func preflight(_ origin: String, methods: [HTTPMethod]) -> HTTPAnswer {
        var answer = HTTPAnswer.empty(.noContent)
        answer.headers = [
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": methods.map(\.rawValue).joined(separator: ", "),
            "Access-Control-Allow-Headers": headers.joined(separator: ", "),
            "Access-Control-Max-Age": "\(age.components.seconds)",
            "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
        ]
        return answer
    }

    func mark(_ headers: inout HTTPHeaders, _ origin: String) {
        headers.append("Access-Control-Allow-Origin", origin)
        if !exposed.isEmpty { headers.append("Access-Control-Expose-Headers", exposed.joined(separator: ", ")) }
    }
}

/// Which names a client may call this server by.
///
/// A web page of somebody else can have its own name point to this machine, and then its scripts may talk to us as if
/// we were its server. The browser still sends the name, so a name that is not ours is refused.
struct HostCheck: Sendable {
    private let names: Set<String>

    /// The names of the loopback, the address that the server listens at, and what was allowed besides.
    init(address: String?, allowed: Set<String>) {
        var names: Set<String> = ["localhost", "127.0.0.1", "::1"]
        if let address { names.insert(address.lowercased()) }
        for name in allowed { names.insert(HostName.withoutPort(name)) }
        self.names = names
    }

    func allows(_ host: String?) -> Bool {
        // Only HTTP/1.0 may leave it out, which no browser speaks.
        guard let host else { return true }
        return names.contains(HostName.withoutPort(host))
    }
}
