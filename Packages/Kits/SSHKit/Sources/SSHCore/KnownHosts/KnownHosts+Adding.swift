import Capabilities
import Cryptography
import FileKit
import Glibc

extension KnownHosts {
    /// Adds a key of a host to the first file of the user, as its last line. Everything else in the file stays as it is.
    /// A key that is known already is not added again, and one that is revoked is refused.
    ///
    /// The file is made, only for the user, if it does not exist, and its folder too. A link to it stays one. Others of our
    /// programs wait for a lock meanwhile; whole lines that ssh adds at the same time are kept.
    ///
    /// - Parameter hashed: whether the name is hashed (`HashKnownHosts`).
    public func add(_ key: HostKey, of name: KnownHostName, hashed: Bool) throws(SSHError) {
        guard let file = user.first else {
            throw SSHError(.knownHosts, "the key of \(name) cannot be added: UserKnownHostsFile is 'none'")
        }
        guard name.isWritable else {
            throw SSHError(
                .knownHosts,
                "the key of \(PlainText.escape(name.description)) cannot be added: the name has a meaning in \(file)")
        }
        guard !key.type.isCertificate else {
            throw SSHError(.knownHosts, "the key of \(name) cannot be added: it is a certificate")
        }
        switch try entries(for: name).verdict(on: key) {
        case .known: return
        case .revoked(let place):
            throw SSHError(.knownHosts, "the key of \(name) cannot be added: \(place) revokes it")
        default: break
        }
        let field: String
        do throws(CryptographyError) {
            field = hashed ? try HashedName.field(for: name.description) : name.description
        } catch {
            throw SSHError(.knownHosts, "the key of \(name) cannot be added: \(error.message)", cause: error)
        }
        let line = Array("\(field) \(key.text)\n".utf8)
        do throws(FileError) {
            try Files.makeDirectories(PathParts(file).folder)
            let real = try Files.place(file)
            try SpoolFile(real).append { isFirst in
                isFirst || Self.endsWithLineFeed(real) ? line : [UInt8(ascii: "\n")] + line
            }
        } catch {
            throw SSHError(.knownHosts, "the key of \(name) cannot be added: \(error.message)", cause: error)
        }
    }

    /// Whether the last line of a file has its end. One that cannot be looked at gets an empty line, which is harmless.
    private static func endsWithLineFeed(_ path: String) -> Bool {
        do throws(FileError) {
            let size = try Files.info(path).size
            let file = try FileDescriptor.reading(path)
            var last: UInt8 = 0
            return unsafe size > 0 && pread(file.rawValue, &last, 1, off_t(size - 1)) == 1 && last == 10
        } catch {
            return false
        }
    }
}
