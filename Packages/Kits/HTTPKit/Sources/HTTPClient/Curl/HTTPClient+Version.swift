import CHTTPClient

extension HTTPClient {
    /// The version of libcurl that is loaded, as it says itself.
    public static var libraryVersion: String {
        // `curl_version()` would say more, and have OpenLDAP load all its plug-ins for that.
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "" }
        return unsafe String(cString: info.pointee.version)
    }
}
