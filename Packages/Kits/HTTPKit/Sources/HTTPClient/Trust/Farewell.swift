import CHTTPClient

/// Listens for the farewell on a TLS connection, without which an answer that ends with its connection may be cut.
@safe struct Farewell: ~Copyable {
    private let raw: OpaquePointer

    /// For the connection that the transfer of a handle uses now; nil when it has no TLS.
    init?(of easy: EasyHandle) {
        guard let raw = unsafe httpclient_farewell_of(easy.raw) else { return nil }
        unsafe self.raw = unsafe raw
    }

    deinit { unsafe httpclient_farewell_release(raw) }

    var wasHeard: Bool { unsafe httpclient_farewell_was_heard(raw) == 1 }
}
