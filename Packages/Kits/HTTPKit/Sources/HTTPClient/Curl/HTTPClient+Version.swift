import CHTTPClient
public import HTTPCore

extension HTTPClient {
    /// Begins to load libcurl, which takes as long as starting the program, beside whatever else is done before the first
    /// request. Returns at once.
    public static func prepare() { CurlLibrary.load() }

    /// The version of libcurl with which this was built. What is installed is not opened for that; it may be newer.
    public static var libraryVersion: String { LIBCURL_VERSION }

    /// The version of the libcurl that is installed, which is opened for that; throws when it cannot be used.
    public static func installedLibraryVersion() throws(HTTPError) -> String {
        try CurlLibrary.require()
        // `curl_version()` would say more, and have OpenLDAP load all its plug-ins for that.
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "" }
        return unsafe String(cString: info.pointee.version)
    }
}
