import CHTTPClient
import Capabilities
import Cryptography
import Glibc
import HTTPCore

/// The connection settings that requests and WebSockets share.
struct ConnectionSetup: Sendable {
    var trust: TrustDomain
    var proxies: ProxySettings

    /// Sets all options that decide where a handle connects, through which proxy, and whom it trusts.
    ///
    /// Returns the verification of an https server. It must live until the connection is made, and then knows what the
    /// server presented.
    func configure(
        _ easy: EasyHandle, url: HTTPURL, unixSocket: String? = nil, connect: Duration
    ) throws(HTTPError) -> ServerVerification? {
        easy.collectErrorWords()
        easy.set(CURLOPT_NOSIGNAL, 1)
        // A name server that does not respond must not block the thread after its request was cancelled.
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
        // Empty, not nil: with nil libcurl would read the process's environment variables.
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
        // Our own verification checks the host, because it knows the pins. libcurl would refuse a pinned certificate
        // with another name after our verification had accepted it.
        easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        // With a resumed session the server shows no certificate, so nothing would be verified.
        easy.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // libcurl alone verifies a proxy. The maximum TLS version is set so that the proxy's handshake can be told
        // apart.
        easy.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        easy.set(
            CURLOPT_PROXY_SSLVERSION,
            CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_3)
        try checkFiles([authorities, trust.authorities], identity)
        try setAuthorities(easy, authorities, file: CURLOPT_CAINFO, folder: CURLOPT_CAPATH, blob: CURLOPT_CAINFO_BLOB)
        // Authorities for a server do not apply to the proxy on the way to it.
        try setAuthorities(
            easy, trust.authorities, file: CURLOPT_PROXY_CAINFO, folder: CURLOPT_PROXY_CAPATH,
            blob: CURLOPT_PROXY_CAINFO_BLOB)
        if let identity {
            easy.set(CURLOPT_SSLCERT, identity.certificate)
            easy.set(CURLOPT_SSLKEY, identity.key)
            // Without a passphrase libssl would prompt on the terminal.
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
            // The system's own authorities stay in the folder that libcurl was built for.
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

    /// libcurl's messages about unreadable files sound like a fault of the server.
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
                    + "\(SystemError(errno).description.lowercased())", mayHaveBeenSent: false)
        }
    }

    /// Called by libcurl for each new TLS context. It is a static member because a closure formed in isolated code
    /// would trap on libcurl's thread.
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

/// The proxies for outgoing requests. The caller sets them; they are never read from the process.
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for http addresses, such as `http://proxy.example:3128`; it may contain user and password.
    public var http: String?
    /// The proxy for https addresses, in the same form; nil connects directly.
    public var https: String?
    /// The names and networks that are reached directly, separated by commas.
    public var except: String?

    /// Proxies as a program sets them. Unlike the environment, this adds no exception for this machine.
    public init(http: String? = nil, https: String? = nil, except: String? = nil) {
        self.http = http
        self.https = https
        self.except = except
    }

    /// Connects directly to every server.
    public static let none = ProxySettings()

    /// Reads the usual variables. `HTTP_PROXY` in capitals is ignored: in a CGI program a client could set it with a
    /// header.
    public init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = value("http_proxy") ?? all
        https = value("https_proxy", "HTTPS_PROXY") ?? all
        // A server on this machine is never reached through a proxy.
        except = (value("no_proxy", "NO_PROXY").map { "\($0)," } ?? "") + "localhost,127.0.0.0/8,::1"
    }

    /// Whether libcurl can use the proxy. Its own message about that would quote the password.
    static func isUsable(_ proxy: String) throws(HTTPError) -> Bool {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        guard let (scheme, _) = try URLParts.server(ofProxy: proxy) else { return false }
        return schemes.contains(scheme.lowercased())
    }

    /// The proxy's port. Without one libcurl uses 1080 for every scheme except https.
    static func port(of proxy: String) throws(HTTPError) -> Int? {
        guard let (scheme, port) = try URLParts.server(ofProxy: proxy) else { return nil }
        return port ?? (scheme.lowercased() == "https" ? 443 : 1080)
    }

    func proxy(for url: HTTPURL) -> String? { url.scheme == .https ? https : http }
}

/// Checks each address before a connection to it starts, for a caller who may not reach every server. Use it from one
/// thread at a time.
final class AddressGate {
    private let grant: Grant
    private let url: HTTPURL
    private let proxyPort: Int?
    /// Why an address was refused. The server may have another one that is allowed.
    private(set) var refusal: HTTPError?

    /// Nil when every address is allowed.
    init?(_ grant: Grant?, _ url: HTTPURL, through proxy: String?) throws(HTTPError) {
        guard let grant else { return nil }
        (self.grant, self.url) = (grant, url)
        proxyPort = try proxy.flatMap { (proxy) throws(HTTPError) in try ProxySettings.port(of: proxy) }
    }

    /// Makes libcurl check each address before the first packet. The gate must live as long as the transfer.
    func install(on easy: EasyHandle) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        easy.note(
            unsafe httpclient_set_open_socket(easy.raw, Self.onSocket, context), CURLOPT_OPENSOCKETFUNCTION)
    }

    func allows(_ peer: ConnectedPeer) -> Bool {
        // The proxy resolves the server's name itself; the name was checked before.
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

/// The other end of a connection, as the system reports it.
struct ConnectedPeer: Sendable, Hashable {
    let address: String
    let port: Int
}

extension ConnectedPeer {
    /// Nil if the address is not an Internet address.
    fileprivate init?(_ address: UnsafePointer<curl_sockaddr>) {
        var text = [CChar](repeating: 0, count: 64)
        let port = unsafe httpclient_address(address, &text, text.count)
        guard port > 0 else { return nil }
        let digits = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        self.init(address: String(decoding: digits, as: UTF8.self), port: Int(port))
    }
}
