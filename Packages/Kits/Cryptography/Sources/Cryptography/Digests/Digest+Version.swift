import COpenSSL

extension Digest {
    /// The version of OpenSSL that is loaded, as it says itself.
    public static var libraryVersion: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
