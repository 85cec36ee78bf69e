import CHTTPClient
import HTTPCore

/// Owns one of libcurl's easy handles, the lists it was given, and the room where it writes about errors.
///
/// It belongs to one thread at a time, so it is not `Sendable`.
@safe final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let words: UnsafeMutablePointer<CChar>
    private var lines: UnsafeMutablePointer<curl_slist>?

    init() throws(HTTPError) {
        guard CurlLibrary.isReady, let raw = unsafe curl_easy_init() else {
            throw HTTPError(.invalid, "libcurl could not be started: no memory is left", mayHaveBeenSent: false)
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

    /// Makes it as new; false when it cannot be used again.
    ///
    /// libcurl 7.88 keeps the buffer of a transfer that ended while others went on over the same connection, and refuses
    /// to change its size for as long as it has one.
    func reset() -> Bool {
        unsafe curl_easy_reset(raw)
        let isFree = unsafe httpclient_set_long(raw, CURLOPT_BUFFERSIZE, 16 << 10) == CURLE_OK
        unsafe curl_slist_free_all(lines)
        unsafe lines = nil
        unsafe words.pointee = 0
        return isFree
    }

    /// What libcurl says about the error of the last transfer, or the usual words for its code.
    func description(of code: CURLcode) -> String {
        let text = unsafe String(cString: words)
        if !text.isEmpty { return text }
        return unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }

    // MARK: Options. libcurl refuses only what it was built without, or when no memory is left; a few are checked.

    func set(_ option: CURLoption, _ value: Int) {
        let code = unsafe httpclient_set_long(raw, option, value)
        assert(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }

    func set(_ option: CURLoption, offset: Int) {
        let code = unsafe httpclient_set_offset(raw, option, curl_off_t(offset))
        assert(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }

    /// False when libcurl refuses the text.
    @discardableResult
    func set(_ option: CURLoption, _ text: String?) -> Bool {
        let code =
            if let text { unsafe httpclient_set_string(raw, option, text) } else {
                unsafe httpclient_set_string(raw, option, nil)
            }
        return code == CURLE_OK
    }

    func set(_ option: CURLoption, blob: [UInt8]) -> Bool {
        unsafe blob.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe httpclient_set_blob(raw, option, start, bytes.count) == CURLE_OK
        }
    }

    /// Gives it the header lines of a request; they are freed with the next reset.
    func setLines(_ texts: [String]) {
        for text in texts {
            guard let longer = unsafe curl_slist_append(lines, text) else {
                preconditionFailure("no memory is left for a header line")
            }
            unsafe lines = unsafe longer
        }
        _ = unsafe httpclient_set_list(raw, CURLOPT_HTTPHEADER, lines)
    }

    func collectErrorWords() {
        _ = unsafe httpclient_set_pointer(raw, CURLOPT_ERRORBUFFER, words)
    }

    // MARK: Facts about the transfer.

    func int(_ info: CURLINFO) -> Int { unsafe httpclient_get_long(raw, info) }

    func offset(_ info: CURLINFO) -> Int { unsafe Int(httpclient_get_offset(raw, info)) }

    func text(_ info: CURLINFO) -> String? {
        unsafe httpclient_get_string(raw, info).map { unsafe String(cString: $0) }
    }

    /// The socket of the connection, or nil when there is none.
    var socket: Int32? {
        let socket = unsafe httpclient_get_socket(raw, CURLINFO_ACTIVESOCKET)
        return socket >= 0 ? socket : nil
    }
}

/// What libcurl does once for each process.
enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
