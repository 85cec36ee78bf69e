import Capabilities
public import Cryptography
import FileKit
import Glibc

/// Certificates made for one run of the tests: good ones, and one for each defect. All are for `localhost`, 127.0.0.1
/// and ::1 unless noted otherwise.
public struct TestCertificates: Sendable {
    /// The issuer of all certificates that are not self-signed. Add its certificate to a client that should trust them.
    public let authority: Identity
    /// Signed by the authority, without defects.
    public let good: Identity
    /// Signed by an intermediate that the authority signed; the chain contains both.
    public let viaIntermediate: Identity
    /// Like `viaIntermediate`, but the server does not send the intermediate.
    public let missingIntermediate: Identity
    /// Signed by an expired intermediate.
    public let viaExpiredIntermediate: Identity
    /// Signed by the authority for `elsewhere.example`.
    public let wrongName: Identity
    /// Signed by the authority for the name `localhost` only, so it is wrong for an IP address.
    public let nameOnly: Identity
    /// Signed by the authority, expired ten days ago.
    public let expired: Identity
    /// Signed by the authority, valid in ten days.
    public let notYetValid: Identity
    /// Signed by the authority, with a 1024-bit RSA key.
    public let weakKey: Identity
    /// Signed by an untrusted authority.
    public let unknownIssuer: Identity
    /// Self-signed, otherwise without defects.
    public let selfSigned: Identity
    /// A different certificate, as after a server was reinstalled.
    public let otherSelfSigned: Identity
    /// Self-signed and expired ten days ago.
    public let expiredSelfSigned: Identity
    /// Self-signed for `elsewhere.example`.
    public let wrongNameSelfSigned: Identity
    /// A client certificate signed by the authority.
    public let client: Identity

    /// Creates all of them, which takes some milliseconds; a suite does it once.
    public init() throws(CryptographyError) {
        let maker = Maker(now: Timestamp(microseconds: Int64(time(nil)) * 1_000_000))
        let authority = try maker.draft("Test Authority", isAuthority: true).selfSigned()
        let stranger = try maker.draft("Unknown Authority", isAuthority: true).selfSigned()
        let intermediate = try maker.draft("Test Intermediate", isAuthority: true).signed(by: authority)
        let oldIntermediate = try maker.draft("Old Intermediate", days: -20 ..< -10, isAuthority: true)
            .signed(by: authority)
        self.authority = authority
        good = try maker.draft("good").signed(by: authority)
        viaIntermediate = try maker.draft("via intermediate").signed(by: intermediate)
        missingIntermediate = try Identity(chain: [viaIntermediate.certificate], key: viaIntermediate.key)
        viaExpiredIntermediate = try maker.draft("via an expired intermediate").signed(by: oldIntermediate)
        wrongName = try maker.draft("wrong name", names: ["elsewhere.example"]).signed(by: authority)
        nameOnly = try maker.draft("name only", names: ["localhost"]).signed(by: authority)
        expired = try maker.draft("expired", days: -20 ..< -10).signed(by: authority)
        notYetValid = try maker.draft("not yet valid", days: 10..<20).signed(by: authority)
        weakKey = try maker.draft("weak key", key: .rsa(bits: 1024)).signed(by: authority)
        unknownIssuer = try maker.draft("unknown issuer").signed(by: stranger)
        selfSigned = try maker.draft("self-signed").selfSigned()
        otherSelfSigned = try maker.draft("self-signed anew").selfSigned()
        expiredSelfSigned = try maker.draft("expired self-signed", days: -20 ..< -10).selfSigned()
        wrongNameSelfSigned = try maker.draft("wrong name, self-signed", names: ["elsewhere.example"]).selfSigned()
        client = try maker.draft("client").signed(by: authority)
    }

    /// One set for all tests of a process.
    public static func shared() throws -> TestCertificates {
        try made.get()
    }

    private static let made = Result { () throws(CryptographyError) in try TestCertificates() }
}

private struct Maker {
    let now: Timestamp

    func draft(
        _ name: String, names: [String] = ["localhost", "127.0.0.1", "::1"], days: Range<Int64> = -1..<30,
        key: PrivateKey.Kind = .p256, isAuthority: Bool = false
    ) -> CertificateDraft {
        func day(_ number: Int64) -> Timestamp {
            Timestamp(microseconds: now.microseconds + number * 86_400_000_000)
        }
        var draft = CertificateDraft(
            commonName: name, notBefore: day(days.lowerBound), notAfter: day(days.upperBound))
        draft.names = isAuthority ? [] : names
        draft.key = key
        draft.isAuthority = isAuthority
        return draft
    }
}

extension Identity {
    /// The key as PEM, for programs that read it from a file.
    public func keyPEM() throws -> [UInt8] {
        try key.pem().withBytes { bytes in Array(unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }) }
    }

    /// Writes `<name>.pem` with the chain and `<name>.key` to a directory.
    public func write(into folder: String, as name: String) throws -> (chain: String, key: String) {
        let (chain, key) = ("\(folder)/\(name).pem", "\(folder)/\(name).key")
        try Files.writeAtomically(Array(chainPEM.utf8), to: chain)
        try Files.writeAtomically(try keyPEM(), to: key, mode: 0o600)
        return (chain, key)
    }
}
