import CHTTPClient
import HTTPCore

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
        // Without this check, C would see an address that ends where the caller's does not.
        guard !text.utf8.contains(0) else { throw .invalidURL(shown, "it contains a control character") }
        let flags = UInt32(CURLU_DISALLOW_USER | CURLU_URLENCODE)
        let code = unsafe curl_url_set(handle, CURLUPART_URL, text, flags)
        guard code != CURLUE_OK else { return }
        let reason =
            switch code {
            case CURLUE_USER_NOT_ALLOWED:
                "it contains a user name or password; remove it and log in instead"
            case CURLUE_UNSUPPORTED_SCHEME: "only http:// and https:// are spoken here"
            case CURLUE_BAD_PORT_NUMBER: "its port is no number from 1 to 65535"
            case CURLUE_BAD_IPV6: "the address in brackets is no IPv6 address"
            case CURLUE_NO_HOST: "it names no host"
            case CURLUE_BAD_HOSTNAME: "its host cannot be a name"
            default: unsafe curl_url_strerror(code).map { unsafe String(cString: $0).lowercased() } ?? "it is malformed"
            }
        throw .invalidURL(shown, reason)
    }

    /// The scheme of a proxy, which is http when it names none, and the port that it names; nil when it is no address.
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
