import CCryptography
import COpenSSL

extension Digest {
    /// The version of OpenSSL with which this was built. What is installed is not opened for that; it may be newer.
    public static var libraryVersion: String { OPENSSL_VERSION_STR }

    /// The version of the OpenSSL that is installed, which is opened for that; throws when it cannot be used.
    public static func installedLibraryVersion() throws(CryptographyError) -> String {
        if let reason = unsafe ccryptography_problem() {
            throw CryptographyError(
                .library,
                "libssl cannot be used: \(unsafe String(cString: reason)); install OpenSSL 3 (Debian: apt install libssl3)"
            )
        }
        return unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
    }
}
