import CHTTPClient
import Capabilities
import Cryptography
import Glibc
import HTTPCore

/// How a connection is made: what requests and WebSockets have in common.
struct ConnectionSetup: Sendable {
    var trust: TrustDomain
    var proxies: ProxySettings

    /// Sets everything that decides where a handle connects to, through what, and whom it believes there.
    ///
    /// What judges the server of an https address is returned: it must live until the connection is made, and knows
    /// afterwards what the server showed.
    func configure(
        _ easy: EasyHandle, url: HTTPURL, unixSocket: String? = nil, connect: Duration
    ) throws(HTTPError) -> ServerVerification? {
        easy.collectErrorWords()
        easy.set(CURLOPT_NOSIGNAL, 1)
        // A name service that does not answer must not hold up the thread when its request is given up.
        easy.set(CURLOPT_QUICK_EXIT, 1)
        easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        easy.set(CURLOPT_FOLLOWLOCATION, 0)
        easy.set(CURLOPT_URL, url.text)
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, min(max(connect.milliseconds, 1), 1 << 30))
        if let unixSocket {
            guard unixSocket.utf8.count < 108, !unixSocket.utf8.contains(0) else {
                throw HTTPError(
                    .invalid, "a socket path must have at most 107 bytes and no zero byte: use a shorter path",
                    mayHaveBeenSent: false)
            }
            easy.set(CURLOPT_UNIX_SOCKET_PATH, unixSocket)
        }
        // An empty text and not none, because libcurl would look at the process's variables instead.
        let proxy = unixSocket == nil ? proxies.proxy(for: url) ?? "" : ""
        if !proxy.isEmpty, try !ProxySettings.isUsable(proxy) {
            throw HTTPError(
                .proxy,
                "the proxy for \(url.server) cannot be used: its address is malformed, or its scheme is not http, "
                    + "https, socks4a, socks5 or socks5h", mayHaveBeenSent: false, server: url.server)
        }
        easy.set(CURLOPT_PROXY, proxy)
        easy.set(CURLOPT_NOPROXY, proxies.except ?? "")
        if !proxy.isEmpty { easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) }
        guard url.scheme == .https || !proxy.isEmpty else {
            try easy.checkOptions(server: url.server)
            return nil
        }
        try configureTLS(easy, trust.authorities(for: url), trust.identity(for: url))
        guard url.scheme == .https else {
            try easy.checkOptions(server: url.server)
            return nil
        }
        guard CurlLibrary.canVerify(CurlLibrary.tls) else {
            throw HTTPError(
                .tls,
                "no secure connection to \(url.server) is possible: the libcurl of this system uses "
                    + "\(CurlLibrary.tls.isEmpty ? "no TLS" : CurlLibrary.tls), but this program needs libcurl with "
                    + "OpenSSL",
                mayHaveBeenSent: false, server: url.server)
        }
        let verification = ServerVerification(host: url.hostWithoutZone, port: url.port, judge: trust.judge)
        let context = unsafe Unmanaged.passUnretained(verification).toOpaque()
        unsafe easy.setTLS(Self.installVerification, context)
        try easy.checkOptions(server: url.server)
        return verification
    }

    private func configureTLS(
        _ easy: EasyHandle, _ authorities: TrustDomain.Authorities, _ identity: ClientIdentity?
    ) throws(HTTPError) {
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        // The host is checked by our own verification, which knows what was pinned; libcurl would refuse a pinned
        // certificate with another name after ours had accepted it.
        easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        // With a session from before, a server shows no certificate and nobody is asked.
        easy.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // A proxy is judged by libcurl alone. That its greatest version is named is how its handshake is told apart.
        easy.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        easy.set(
            CURLOPT_PROXY_SSLVERSION,
            CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_3)
        try checkFiles([authorities, trust.authorities], identity)
        try setAuthorities(easy, authorities, file: CURLOPT_CAINFO, folder: CURLOPT_CAPATH, blob: CURLOPT_CAINFO_BLOB)
        // Who vouches for one server does not vouch for the proxy on the way to it.
        try setAuthorities(
            easy, trust.authorities, file: CURLOPT_PROXY_CAINFO, folder: CURLOPT_PROXY_CAPATH,
            blob: CURLOPT_PROXY_CAINFO_BLOB)
        if let identity {
            easy.set(CURLOPT_SSLCERT, identity.certificate)
            easy.set(CURLOPT_SSLKEY, identity.key)
            // Without one libssl would ask on the terminal, whoever sits there.
            (identity.passphrase ?? Secret("")).withText { easy.set(CURLOPT_KEYPASSWD, $0) }
        }
    }

    private func setAuthorities(
        _ easy: EasyHandle, _ authorities: TrustDomain.Authorities, file: CURLoption, folder: CURLoption,
        blob: CURLoption
    ) throws(HTTPError) {
        switch authorities {
        case .system: break
        case .systemAnd(let path):
            // The system's own stay in the folder that libcurl was built for.
            easy.set(file, path)
        case .file(let path):
            easy.set(file, path)
            easy.set(folder, nil)
        case .bytes(let bytes):
            guard !bytes.isEmpty else {
                throw HTTPError(.invalid, "the list of trusted authorities is empty", mayHaveBeenSent: false)
            }
            easy.set(folder, nil)
            easy.set(blob, blob: bytes)
        }
    }

    /// libcurl's own words on a file that cannot be read sound like a fault of the server.
    private func checkFiles(
        _ authorities: [TrustDomain.Authorities], _ identity: ClientIdentity?
    ) throws(HTTPError) {
        var files: [(what: String, path: String)] = []
        for authorities in authorities {
            switch authorities {
            case .system, .bytes: break
            case .systemAnd(let path), .file(let path): files.append(("the file with trusted authorities", path))
            }
        }
        if let identity {
            files += [("your certificate", identity.certificate), ("the key of your certificate", identity.key)]
        }
        for (what, path) in files where unsafe access(path, R_OK) != 0 {
            throw HTTPError(
                .invalid,
                "\(what) cannot be read: \(PlainText.escape(path)): "
                    + "\(unsafe String(cString: strerror(errno)).lowercased())", mayHaveBeenSent: false)
        }
    }

    /// Called by libcurl for each new TLS context. It stands in a static member, because a closure that is formed in
    /// isolated code would trap on libcurl's thread.
    private static let installVerification: curl_ssl_ctx_callback = { _, context, verification in
        guard let context = unsafe context, let verification = unsafe verification else {
            return CURLE_SSL_CONNECT_ERROR
        }
        guard unsafe httpclient_tls_is_proxy(context) == 0 else { return CURLE_OK }
        let judge = unsafe Unmanaged<ServerVerification>.fromOpaque(verification).takeUnretainedValue()
        do {
            try unsafe judge.install(on: context)
            return unsafe httpclient_farewell_watch(context) == 1 ? CURLE_OK : CURLE_OUT_OF_MEMORY
        } catch {
            return CURLE_SSL_CONNECT_ERROR
        }
    }
}

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

/// Decides about each address to which a connection is begun, for a caller who may not speak to every server. It belongs
/// to one thread at a time.
final class AddressGate {
    private let grant: Grant
    private let url: HTTPURL
    private let proxyPort: Int?
    /// Why an address was refused. The server may have another one that is allowed.
    private(set) var refusal: HTTPError?

    /// Nil where every address is allowed.
    init?(_ grant: Grant?, _ url: HTTPURL, through proxy: String?) throws(HTTPError) {
        guard let grant else { return nil }
        (self.grant, self.url) = (grant, url)
        proxyPort = try proxy.flatMap { (proxy) throws(HTTPError) in try ProxySettings.port(of: proxy) }
    }

    /// Has libcurl ask about each address before the first packet. The gate must live as long as the transfer.
    func install(on easy: EasyHandle) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        easy.note(
            unsafe httpclient_set_open_socket(easy.raw, Self.onSocket, context), CURLOPT_OPENSOCKETFUNCTION)
    }

    func allows(_ peer: ConnectedPeer) -> Bool {
        // What a proxy connects to it looks up by itself; whose name may be spoken to was decided before.
        if peer.port == proxyPort { return true }
        do throws(HTTPError) { try url.checkPermission(at: peer, within: grant) } catch {
            refusal = error
            return false
        }
        return true
    }

    private static let onSocket: curl_opensocket_callback = { context, purpose, address in
        guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
        let gate = unsafe Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
        guard let peer = unsafe ConnectedPeer(address), gate.allows(peer) else { return CURL_SOCKET_BAD }
        return unsafe httpclient_open_socket(address)
    }
}

extension ConnectedPeer {
    /// Nil for what is no address of the Internet.
    fileprivate init?(_ address: UnsafePointer<curl_sockaddr>) {
        var text = [CChar](repeating: 0, count: 64)
        let port = unsafe httpclient_address(address, &text, text.count)
        guard port > 0 else { return nil }
        let digits = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        self.init(address: String(decoding: digits, as: UTF8.self), port: Int(port))
    }
}
