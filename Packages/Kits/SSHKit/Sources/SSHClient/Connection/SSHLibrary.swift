import CSSHClient
public import SSHCore

/// libssh2, opened on first use, because most runs of a program connect to no host.
public enum SSHLibrary {
    /// The version of the headers that this program was compiled with.
    public static var compiledVersion: String { LIBSSH2_VERSION }

    /// The version of the library that is installed. Opens it; throws `.library` when it cannot be used.
    public static func version() throws(SSHError) -> String {
        try require()
        return unsafe libssh2_version(0).map { unsafe String(cString: $0) } ?? oldest.name
    }

    /// The oldest version that has all functions used here.
    static let oldest = (number: Int32(0x01_09_00), name: "1.9.0")

    private static let problem = openedProblem()

    /// Why this process cannot use libssh2, or nil. The first call opens it, on any thread.
    private static func openedProblem() -> String? {
        if let reason = reason(against: unsafe String(cString: sshclient_library())) { return reason }
        // Returns null for a version that is older than the number.
        guard unsafe libssh2_version(oldest.number) != nil else { return "it is older than version \(oldest.name)" }
        return libssh2_init(0) == 0 ? nil : "it cannot be initialised"
    }

    /// Opens a library as libssh2; returns the reason if that fails.
    static func reason(against path: String) -> String? {
        unsafe sshclient_open(path).map { unsafe String(cString: $0) }
    }

    /// Opens libssh2 if it is not open yet, and throws when it cannot be used.
    static func require() throws(SSHError) {
        guard let problem else { return }
        throw SSHError(
            .library,
            "libssh2 cannot be used: \(problem); install \(oldest.name) or newer (Debian: apt install libssh2-1)")
    }
}
