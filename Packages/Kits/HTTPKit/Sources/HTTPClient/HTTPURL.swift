import CHTTPClient
import Capabilities
import Glibc
public import HTTPCore

/// An `http` or `https` address, parsed by the same rules that libcurl uses to connect.
///
/// It has no user or password: credentials are headers, and addresses are shown to people and written to traces.
public struct HTTPURL: Sendable, Hashable {
    /// The protocol used to talk to the server.
    public enum Scheme: String, Sendable, Hashable {
        case http, https

        /// The port when the address has none.
        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    /// The scheme, which decides about encryption.
    public let scheme: Scheme
    /// The name or address in lower case; an IPv6 address has no brackets.
    public let host: String
    /// The port in the address, or the scheme's default.
    public let port: Int
    /// At least `/`, percent-encoded.
    public let path: String
    /// The text after the question mark, percent-encoded.
    public let query: String?
    /// The whole normalized address, without the fragment.
    public let text: String

    /// Parses an address. An address without a scheme gets `scheme`, or is refused if that is nil.
    public init(_ text: String, assuming scheme: Scheme? = nil) throws(HTTPError) {
        let parts = try URLParts()
        let beginning = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        if text[beginning.endIndex...].hasPrefix("://") {
            guard Scheme(rawValue: beginning.lowercased()) != nil else {
                throw .invalidURL(text, "only http:// and https:// are supported")
            }
            try parts.set(text, naming: text)
        } else {
            guard let scheme else { throw .invalidURL(text, "it begins neither with http:// nor with https://") }
            try parts.set("\(scheme.rawValue)://\(text)", naming: text)
        }
        try self.init(parts, naming: text)
    }

    /// Resolves a reference against this address: `../v2/models`, `?page=2`, `//other/`, or a whole address.
    public func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
        // libcurl would drop the query.
        if reference.isEmpty || reference.hasPrefix("#") { return self }
        let parts = try URLParts()
        try parts.set(text, naming: text)
        try parts.set(reference, naming: reference)
        return try HTTPURL(parts, naming: reference)
    }

    /// The host as written in an address, with brackets around an IPv6 address.
    public var bracketedHost: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

    /// The host as a certificate names it. The zone of a link-local address has a meaning only on this machine.
    var hostWithoutZone: String { host.split(separator: "%", maxSplits: 1).first.map(String.init) ?? host }

    /// Host and port, as messages show a server.
    public var server: String { "\(bracketedHost):\(port)" }

    /// Whether the same server answers both addresses, so that both may see the same data.
    public func isSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    private init(_ parts: borrowing URLParts, naming shown: String) throws(HTTPError) {
        guard let scheme = parts.get(CURLUPART_SCHEME).flatMap({ Scheme(rawValue: $0.lowercased()) }) else {
            throw .invalidURL(shown, "only http:// and https:// are supported")
        }
        guard let name = parts.get(CURLUPART_HOST), !name.isEmpty else {
            throw .invalidURL(shown, "its host is missing or not valid")
        }
        // libcurl reads such names in the encoding of the process's locale, which may not be set.
        guard name.utf8.allSatisfy({ $0 < 128 }) else {
            throw .invalidURL(shown, "write the host in its ASCII form, which starts with xn--")
        }
        guard let port = parts.get(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap(Int.init), port > 0 else {
            throw .invalidURL(shown, "its port is not valid")
        }
        parts.clear(CURLUPART_FRAGMENT)
        let host = name.lowercased()
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        // Setting the host again would lose the zone of a link-local address, so only a name is converted to ASCII.
        if !isBracketed { parts.set(CURLUPART_HOST, to: host) }
        guard let text = parts.get(CURLUPART_URL, flags: CURLU_NO_DEFAULT_PORT) else {
            throw .invalidURL(shown, "it is malformed")
        }
        self.scheme = scheme
        let zone = parts.get(CURLUPART_ZONEID).map { "%\($0)" } ?? ""
        self.host = isBracketed ? String(host.dropFirst().dropLast()) + zone : host
        self.port = port
        path = parts.get(CURLUPART_PATH) ?? "/"
        query = parts.get(CURLUPART_QUERY)
        self.text = text
    }
}

/// Addresses of an API that are made from its base.
extension HTTPURL {
    /// Adds a pair to the query.
    public func adding(_ name: String, _ value: String) throws(HTTPError) -> HTTPURL {
        try resolving("?" + (query.map { "\($0)&" } ?? "") + "\(name)=\(PercentEncoding.encode(value))")
    }

    /// The address of something below this one, whose path is kept.
    ///
    /// - Parameter path: begins with a slash and is escaped.
    public func below(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving(Self.trimmed(self.path) + path)
    }

    /// The base of an API at `/v1`, which some users write and others omit.
    public func versioned() throws(HTTPError) -> HTTPURL {
        let path = Self.trimmed(self.path)
        return path.hasSuffix("/v1") ? try resolving(path) : try resolving(path + "/v1")
    }

    /// The same for other servers: only an address without a path is completed.
    public func versionedIfBare() throws(HTTPError) -> HTTPURL {
        path == "/" ? try resolving("/v1") : try resolving(Self.trimmed(path))
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}

extension HTTPURL: CustomStringConvertible {
    public var description: String { text }
}

extension HTTPError {
    static func invalidURL(_ text: String, _ reason: String) -> HTTPError {
        // The text before an @ may be a password, and a mistyped address may contain anything, so only a little is
        // shown. The query is left out because it often contains a key or a signature.
        let start = PlainText.escape(String(text.prefix { $0 != "?" && $0 != "#" }.prefix(200)))
        let shown = text.utf8.contains(UInt8(ascii: "@")) ? "the address" : "\u{201C}\(start)\u{201D}"
        return HTTPError(.invalidURL, "\(shown) is not a valid address: \(reason)", mayHaveBeenSent: false)
    }
}

extension HTTPURL {
    /// Whether the server is on this machine or in its own network: `localhost`, `*.local`, a private address.
    ///
    /// Decided from the text alone, without a name lookup.
    public var isLocal: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host.hasSuffix(".local") { return true }
        if let address = Self.bytes(of: host, family: AF_INET, count: 4) { return Self.isLocal(address) }
        guard let address = Self.bytes(of: hostWithoutZone, family: AF_INET6, count: 16) else { return false }
        let isMapped = address[..<10].allSatisfy { $0 == 0 } && address[10] == 0xFF && address[11] == 0xFF
        if isMapped { return Self.isLocal(Array(address[12...])) }
        let isLoopback = address[..<15].allSatisfy { $0 == 0 } && address[15] == 1
        let isUnique = address[0] & 0xFE == 0xFC
        let isLinkLocal = address[0] == 0xFE && address[1] & 0xC0 == 0x80
        return isLoopback || isUnique || isLinkLocal
    }

    private static func isLocal(_ address: [UInt8]) -> Bool {
        switch (address[0], address[1]) {
        case (127, _), (10, _), (192, 168), (169, 254), (172, 16...31): true
        default: false
        }
    }

    private static func bytes(of text: String, family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}

extension HTTPURL {
    /// Throws if the grant does not allow this server.
    ///
    /// - Parameter socket: the Unix socket that reaches the server. It is a file, not a server of the network.
    func checkPermission(socket: String? = nil, within grant: Grant) throws(HTTPError) {
        let request = socket.map { GrantRequest.path($0, .own) } ?? .host(host, port: port)
        if let refusal = grant.decide(request).refusal(by: self) { throw refusal }
    }

    /// Throws if the grant does not allow the address that the name resolved to, before anything is sent there.
    func checkPermission(at peer: ConnectedPeer, within grant: Grant) throws(HTTPError) {
        let request = GrantRequest.address(peer.address, port: peer.port, host: host)
        if let refusal = grant.decide(request).refusal(by: self) { throw refusal }
    }
}

extension GrantDecision {
    fileprivate func refusal(by url: HTTPURL) -> HTTPError? {
        guard case .deny(let rule, let mend) = self else { return nil }
        return HTTPError(.notPermitted, "\(rule); \(mend)", mayHaveBeenSent: false, server: url.server)
    }
}

/// Owns one of libcurl's URL handles.
@safe struct URLParts: ~Copyable {
    private let handle: OpaquePointer

    init() throws(HTTPError) {
        try CurlLibrary.require()
        guard let handle = unsafe curl_url() else { preconditionFailure("no memory is left for an address") }
        unsafe self.handle = handle
    }

    deinit { unsafe curl_url_cleanup(handle) }

    /// Sets the whole address, or resolves a reference against the one that is set.
    borrowing func set(_ text: String, naming shown: String) throws(HTTPError) {
        // Without this check, C would end the address at the zero byte.
        guard !text.utf8.contains(0) else { throw .invalidURL(shown, "it contains a control character") }
        let flags = UInt32(CURLU_DISALLOW_USER | CURLU_URLENCODE)
        let code = unsafe curl_url_set(handle, CURLUPART_URL, text, flags)
        guard code != CURLUE_OK else { return }
        let reason =
            switch code {
            case CURLUE_USER_NOT_ALLOWED:
                "it contains a user name or password; remove it and sign in instead"
            case CURLUE_UNSUPPORTED_SCHEME: "only http:// and https:// are supported"
            case CURLUE_BAD_PORT_NUMBER: "its port is not a number from 1 to 65535"
            case CURLUE_BAD_IPV6: "the address in brackets is not an IPv6 address"
            case CURLUE_NO_HOST: "it has no host"
            case CURLUE_BAD_HOSTNAME: "its host is not a valid name"
            default: unsafe curl_url_strerror(code).map { unsafe String(cString: $0).lowercased() } ?? "it is malformed"
            }
        throw .invalidURL(shown, reason)
    }

    /// The proxy's scheme (http by default) and its port, if any; nil if the text is not a valid address.
    static func server(ofProxy text: String) throws(HTTPError) -> (scheme: String, port: Int?)? {
        let parts = try URLParts()
        let whole = text.contains("://") ? text : "http://\(text)"
        guard !whole.utf8.contains(0),
            unsafe curl_url_set(parts.handle, CURLUPART_URL, whole, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
        else { return nil }
        return parts.get(CURLUPART_SCHEME).map { ($0, parts.get(CURLUPART_PORT).flatMap { Int($0) }) }
    }

    borrowing func set(_ part: CURLUPart, to text: String) {
        _ = unsafe curl_url_set(handle, part, text, 0)
    }

    borrowing func clear(_ part: CURLUPart) {
        _ = unsafe curl_url_set(handle, part, nil, 0)
    }

    borrowing func get(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe httpclient_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
            return nil
        }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
