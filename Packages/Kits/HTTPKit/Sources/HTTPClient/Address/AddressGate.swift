import CHTTPClient
import Capabilities
import HTTPCore

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
