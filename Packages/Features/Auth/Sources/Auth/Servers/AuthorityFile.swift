import Cryptography
import FileKit
import JSON
import Registry
import Settings

/// A PEM file with authorities that count for the server of one profile.
enum AuthorityFile {
    /// Its setting, below a profile.
    static func key(of profile: String) -> [String] { ["profiles", profile] + key }

    private static let key = ["auth"] + AuthSettings.authorities.declaration.key

    /// The file of `--cacert`, with its whole path; nil where the option was not used.
    ///
    /// - Throws: `AuthError.badAuthority` for one that cannot be read, or holds no certificate.
    static func ofThisRun(_ context: ActionContext) throws(AuthError) -> String? {
        guard let entry = context.host.settings[key], entry.origin == .flag, let path = entry.value.string else {
            return nil
        }
        let absolute = context.host.locations.absolute(path)
        try check(absolute)
        return absolute
    }

    private static func check(_ path: String) throws(AuthError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Files.read(path, limit: 4 << 20)
        } catch {
            throw .badAuthority(file: path, why: error.message)
        }
        do throws(CryptographyError) {
            guard try Certificate.chain(pem: bytes.span).isEmpty else { return }
        } catch {
            throw .badAuthority(file: path, why: error.message)
        }
        throw .badAuthority(file: path, why: "it holds no certificate")
    }
}
