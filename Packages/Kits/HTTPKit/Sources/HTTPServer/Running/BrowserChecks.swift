import HTTPCore

/// The web pages that may use the server from a browser. By default only the server's own pages may.
public struct CrossOriginRules: Sendable {
    /// Origins such as `https://app.example.com`, as a browser sends them; `*` allows any.
    public var origins: Set<String>
    /// Header lines that scripts may send.
    public var headers: [String]
    /// Response header lines that scripts may read.
    public var exposed: [String]
    /// How long a browser may cache the preflight result.
    public var age: Duration

    /// Rules for these origins. By default scripts may send credentials and a content type.
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

/// The result of checking a request's `Origin` line.
enum OriginVerdict {
    /// Not a browser, or a page of this server.
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
    /// The response to a preflight request.
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

/// The host names by which clients may address this server.
///
/// A foreign web page can point its own name to this machine, and then its scripts may talk to this server as if it
/// were theirs. The browser still sends the name, so unknown names are refused.
struct HostCheck: Sendable {
    private let names: Set<String>

    /// The loopback names, the listen address, and the additional allowed names.
    init(address: String?, allowed: Set<String>) {
        var names: Set<String> = ["localhost", "127.0.0.1", "::1"]
        if let address { names.insert(address.lowercased()) }
        for name in allowed { names.insert(HostName.withoutPort(name)) }
        self.names = names
    }

    func allows(_ host: String?) -> Bool {
        // Only HTTP/1.0 may omit it, and browsers do not use that.
        guard let host else { return true }
        return names.contains(HostName.withoutPort(host))
    }
}
