import CHTTPClient

extension HTTPClient {
    /// The version of libcurl that is loaded, as it says itself.
    public static var libraryVersion: String {
        let words = unsafe String(cString: curl_version())
        return words.split(separator: " ").first.map { String($0.drop { $0 != "/" }.dropFirst()) } ?? words
    }
}
