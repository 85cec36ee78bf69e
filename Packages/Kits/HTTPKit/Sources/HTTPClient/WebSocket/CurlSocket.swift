import CHTTPClient
import Capabilities
import Cryptography
import Glibc
import HTTPCore
import Synchronization

/// A connection made by libcurl and then read and written directly: TCP or TLS, with or without a proxy, to a server
/// whose certificate was judged.
///
/// Each has its own pool, so a connection judged under another trust is never used.
final class CurlSocket: Sendable {
    /// The result of one attempt to read or write.
    enum Moved: Sendable, Equatable {
        case bytes(Int)
        case wouldBlock
        case ended
        case failed(String)
    }

    // Safe to share: it exists only inside the lock below, and nothing of it escapes. The compiler cannot see that a
    // buffer lent to libcurl is not kept.
    fileprivate struct Handles: ~Copyable, @unchecked Sendable {
        let target: Target
        let multi: MultiHandle
        let easy: EasyHandle
        let verification: ServerVerification?
        let gate: AddressGate?

        deinit { multi.remove(easy) }
    }

    fileprivate struct Target: Sendable {
        let url: HTTPURL
        let unixSocket: String?
        let limit: Duration
    }

    private let waker: MultiHandle.Waker
    private let handles: Mutex<Handles?>
    private let isCancelled = Atomic(false)

    /// Prepares a connection without sending anything.
    ///
    /// - Parameter grant: what the caller may reach.
    init(_ request: WebSocketRequest, _ setup: ConnectionSetup, within grant: Grant) throws(HTTPError) {
        let target = Target(url: request.url, unixSocket: request.unixSocket, limit: request.deadline)
        let isBound = request.unixSocket == nil && grant != .person
        let gate = try AddressGate(
            isBound ? grant : nil, request.url, through: setup.proxies.proxy(for: request.url))
        let multi = try MultiHandle()
        let easy = try EasyHandle()
        let verification = try setup.configure(
            easy, url: target.url, unixSocket: target.unixSocket, connect: target.limit)
        easy.set(CURLOPT_CONNECT_ONLY, 1)
        // Otherwise the server may choose HTTP/2, which has no upgrade.
        easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // A proxy forwards an upgrade only through a tunnel.
        easy.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        unsafe easy.set(CURLOPT_PRIVATE, pointer: UnsafeRawPointer(easy.raw))
        gate?.install(on: easy)
        try easy.checkOptions(server: target.url.server)
        waker = multi.waker
        handles = Mutex(Handles(target: target, multi: multi, easy: easy, verification: verification, gate: gate))
    }

    /// Connects; call it on a thread that may block.
    func connect() throws(HTTPError) {
        try handles.withLock { (handles) throws(HTTPError) in
            try handles?.connect(unless: { self.isCancelled.load(ordering: .sequentiallyConsistent) })
        }
    }

    /// Makes `connect` on another thread return soon.
    func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        waker.wake()
    }

    /// The descriptor of the connection. A task that waits for it must release it before `close`.
    var descriptor: Int32? { handles.withLock { $0?.easy.socket } }

    /// Writes as many bytes as possible from the given position. A blocked write must be repeated with the same array,
    /// because OpenSSL may have started with it.
    func send(_ bytes: [UInt8], from start: Int) -> Moved {
        handles.withLock { handles in
            guard let easy = handles?.easy else { return .ended }
            var count = 0
            let code = unsafe bytes.withUnsafeBytes { buffer in
                // OpenSSL would encrypt a large write whole while others wait for the lock.
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...].prefix(64 << 10))
                return unsafe curl_easy_send(easy.raw, rest.baseAddress, rest.count, &count)
            }
            switch code {
            case CURLE_OK: return count > 0 ? .bytes(count) : .wouldBlock
            case CURLE_AGAIN: return .wouldBlock
            default: return .failed(easy.description(of: code))
            }
        }
    }

    /// Reads the available bytes into the buffer.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Moved {
        handles.withLock { handles in
            guard let easy = handles?.easy else { return .ended }
            var count = 0
            let code = unsafe curl_easy_recv(easy.raw, buffer.baseAddress, buffer.count, &count)
            switch code {
            case CURLE_OK: return count > 0 ? .bytes(count) : .ended
            case CURLE_AGAIN: return .wouldBlock
            default: return .failed(easy.description(of: code))
            }
        }
    }

    /// Closes the connection.
    func close() {
        handles.withLock { $0 = nil }
    }
}

// MARK: Connecting

extension CurlSocket.Handles {
    func connect(unless isCancelled: () -> Bool) throws(HTTPError) {
        guard multi.add(easy) == CURLM_OK else { throw error(.invalid, "libcurl could not start to connect") }
        while true {
            if isCancelled() { throw error(.closed, "the connection was cancelled before it was made") }
            multi.perform()
            if let code = unsafe multi.nextFinished()?.code {
                guard code == CURLE_OK, easy.socket != nil else { throw failure(code) }
                return
            }
            // libcurl enforces its own limit; this is only the polling interval.
            _ = multi.poll(milliseconds: 1_000)
        }
    }

    private func failure(_ code: CURLcode) -> HTTPError {
        let server = target.unixSocket ?? target.url.server
        let words = easy.description(of: code)
        let proxyStatus = easy.int(CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus != 0, !(200..<300).contains(proxyStatus) {
            return error(.proxy, "the proxy refused the connection to \(server) with status \(proxyStatus)")
        }
        if let (kind, message) = HTTPError.tls(code, words, server: server) { return error(kind, message) }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return error(
                .nameNotFound,
                "cannot resolve \(target.url.host): check the name and the network")
        case CURLE_COULDNT_CONNECT where gate?.refusal != nil:
            return gate?.refusal ?? error(.notPermitted, "connections to \(server) are not permitted")
        case CURLE_COULDNT_CONNECT where easy.int(CURLINFO_OS_ERRNO) == Int(ECONNREFUSED):
            return error(
                .refused, "cannot connect to \(server): nothing is listening there; check that the server is running")
        case CURLE_COULDNT_CONNECT: return error(.unreachable, "cannot connect to \(server): \(words)")
        case CURLE_OPERATION_TIMEDOUT:
            return error(
                .connectTimedOut, "no connection to \(server) within \(target.limit): check host, port and network")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return error(.proxy, "the proxy for \(server) cannot be used: \(words)")
        case CURLE_PEER_FAILED_VERIFICATION: return refusedCertificate(words)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
            return error(.reset, "the connection to \(server) broke before it was made: \(words)")
        default: return error(.tls, "no secure connection to \(server): \(words)")
        }
    }

    private func refusedCertificate(_ words: String) -> HTTPError {
        switch verification?.outcome {
        case .refused(let certificate, let reason):
            HTTPError(
                .certificate, reason, certificate: certificate, mayHaveBeenSent: false, server: target.url.server)
        case .unreadable(let error):
            HTTPError(
                .certificate, "the certificate of \(target.url.server) cannot be read: \(error.message)",
                mayHaveBeenSent: false, server: target.url.server, cause: error)
        case .accepted, nil:
            HTTPError(
                .proxy, "the certificate of the proxy for \(target.url.server) was rejected: \(words)",
                mayHaveBeenSent: false,
                server: target.url.server)
        }
    }

    private func error(_ kind: HTTPError.Kind, _ message: String) -> HTTPError {
        HTTPError(kind, message, mayHaveBeenSent: false, server: target.url.server)
    }
}
