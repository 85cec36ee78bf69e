import CHTTPClient
import HTTPCore

/// Owns a libcurl easy handle, its lists, and its error buffer.
///
/// Use it from one thread at a time; it is not `Sendable`.
@safe final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let words: UnsafeMutablePointer<CChar>
    private var lines: UnsafeMutablePointer<curl_slist>?
    /// The first option that libcurl refused since the last reset.
    private var refused: CURLoption?

    init() throws(HTTPError) {
        try CurlLibrary.require()
        guard let raw = unsafe curl_easy_init() else {
            throw HTTPError(.invalid, "cannot start libcurl: out of memory", mayHaveBeenSent: false)
        }
        unsafe self.raw = unsafe raw
        unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe lines = nil
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_slist_free_all(lines)
        unsafe words.deallocate()
    }

    /// Resets the handle; false when it cannot be reused.
    ///
    /// libcurl 7.88 keeps the buffer of a transfer that ended while others continued on the same connection, and
    /// refuses to change its size.
    func reset() -> Bool {
        unsafe curl_easy_reset(raw)
        let isFree = unsafe httpclient_set_long(raw, CURLOPT_BUFFERSIZE, 16 << 10) == CURLE_OK
        unsafe curl_slist_free_all(lines)
        unsafe lines = nil
        unsafe words.pointee = 0
        refused = nil
        return isFree
    }

    /// libcurl's message about the last error, or the default text for its code.
    func description(of code: CURLcode) -> String {
        let text = unsafe String(cString: words)
        if !text.isEmpty { return text }
        return unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }

    // MARK: Options. libcurl refuses an option only if it was built without it or memory is short. Each option matters,
    // especially for trust, so call `checkOptions` before using the handle.

    /// Throws if libcurl refused any option; nothing may be sent without it.
    func checkOptions(server: String) throws(HTTPError) {
        guard let refused else { return }
        throw HTTPError(
            .tls,
            "the libcurl of this system does not support an option for a safe connection to \(server) "
                + "(\(refused.rawValue)): install libcurl with OpenSSL", mayHaveBeenSent: false,
            server: server)
    }

    /// Records a refused option.
    func note(_ code: CURLcode, _ option: CURLoption) {
        if code != CURLE_OK, refused == nil { refused = option }
    }

    func set(_ option: CURLoption, _ value: Int) {
        note(unsafe httpclient_set_long(raw, option, value), option)
    }

    func set(_ option: CURLoption, offset: Int) {
        note(unsafe httpclient_set_offset(raw, option, curl_off_t(offset)), option)
    }

    func set(_ option: CURLoption, pointer: UnsafeRawPointer?) {
        note(unsafe httpclient_set_pointer(raw, option, pointer), option)
    }

    /// Sets the callback that prepares the TLS contexts of the handle's connections.
    func setTLS(_ callback: @escaping curl_ssl_ctx_callback, _ context: UnsafeMutableRawPointer) {
        note(unsafe httpclient_set_tls(raw, callback, context), CURLOPT_SSL_CTX_FUNCTION)
    }

    func set(_ option: CURLoption, _ text: String?) {
        let code =
            if let text { unsafe httpclient_set_string(raw, option, text) } else {
                unsafe httpclient_set_string(raw, option, nil)
            }
        note(code, option)
    }

    /// The bytes must not be empty.
    func set(_ option: CURLoption, blob: [UInt8]) {
        let code = unsafe blob.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return CURLE_BAD_FUNCTION_ARGUMENT }
            return unsafe httpclient_set_blob(raw, option, start, bytes.count)
        }
        note(code, option)
    }

    /// Sets the header lines of a request; the next reset frees them.
    func setLines(_ texts: [String]) {
        for text in texts {
            guard let longer = unsafe curl_slist_append(lines, text) else {
                preconditionFailure("out of memory for a header line")
            }
            unsafe lines = unsafe longer
        }
        note(unsafe httpclient_set_list(raw, CURLOPT_HTTPHEADER, lines), CURLOPT_HTTPHEADER)
    }

    func collectErrorWords() {
        note(unsafe httpclient_set_pointer(raw, CURLOPT_ERRORBUFFER, words), CURLOPT_ERRORBUFFER)
    }

    // MARK: Facts about the transfer.

    func int(_ info: CURLINFO) -> Int { unsafe httpclient_get_long(raw, info) }

    func offset(_ info: CURLINFO) -> Int { unsafe Int(httpclient_get_offset(raw, info)) }

    func text(_ info: CURLINFO) -> String? {
        unsafe httpclient_get_string(raw, info).map { unsafe String(cString: $0) }
    }

    /// The socket of the connection, or nil.
    var socket: Int32? {
        let socket = unsafe httpclient_get_socket(raw, CURLINFO_ACTIVESOCKET)
        return socket >= 0 ? socket : nil
    }
}

/// Listens for the TLS close_notify. Without it, a response that ends with its connection may be truncated.
@safe struct Farewell: ~Copyable {
    private let raw: OpaquePointer

    /// For the connection that a handle's transfer uses now; nil without TLS.
    init?(of easy: EasyHandle) {
        guard let raw = unsafe httpclient_farewell_of(easy.raw) else { return nil }
        unsafe self.raw = unsafe raw
    }

    deinit { unsafe httpclient_farewell_release(raw) }

    var wasHeard: Bool { unsafe httpclient_farewell_was_heard(raw) == 1 }
}
