import Capabilities
import Cryptography

/// The digests that chain the rows of a log, and the seals that only the owner of a key can make.
///
/// The digest of a row is the SHA-256 of the digest before it and of the row in the form of ``canonical(_:)``, so that
/// it depends on every row before it. A seal is the HMAC-SHA256 of a digest: one seal covers all rows up to its own.
/// Whoever has no key can write rows with right digests, but no seals, and cannot change a row before a seal.
struct AuditChain: Sendable {
    /// The random name of the log, so that no row of another log fits.
    let log: [UInt8]

    /// The digest before the first row.
    var start: [UInt8] { Digest.sha256(Array("martlet-audit-1\n".utf8) + log) }

    func digest(of record: AuditRecord, after previous: [UInt8]) -> [UInt8] {
        Digest.sha256(previous + Self.canonical(record))
    }

    /// The fields, each as its length in bytes, a colon, its bytes and a comma; a field without a value is a hyphen and a
    /// comma. Numbers are decimal, the time is in microseconds since 1970, a digest is hexadecimal.
    static func canonical(_ record: AuditRecord) -> [UInt8] {
        let fields: [String?] = [
            String(record.number), String(record.time.microseconds), record.completes.map { String($0) }, record.origin,
            record.originNumber.map { String($0) }, record.project, record.session, record.conversation, record.actor,
            record.action, record.source, record.subject, record.decision, record.rule, record.outcome, record.detail,
            record.content.map { Hexadecimal.encode($0.digest) },
        ]
        var bytes: [UInt8] = []
        for field in fields {
            guard let field else {
                bytes += "-,".utf8
                continue
            }
            bytes += "\(field.utf8.count):".utf8
            bytes += field.utf8
            bytes += ",".utf8
        }
        return bytes
    }

    /// The seal of a row.
    func seal(_ number: Int, _ digest: [UInt8], _ key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        try code("martlet-audit-seal", number, digest, key)
    }

    /// The seal of the end of the log. It differs from that of the row, or a log that was cut could take over the seal of
    /// the row that is now its last.
    func endSeal(_ number: Int, _ digest: [UInt8], _ key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        try code("martlet-audit-end", number, digest, key)
    }

    private func code(
        _ purpose: String, _ number: Int, _ digest: [UInt8], _ key: SecretBytes
    ) throws(CryptographyError) -> [UInt8] {
        let message = Array("\(purpose)\n".utf8) + log + Array("\(number)\n".utf8) + digest
        return try HMAC.sha256(message.span, key: key)
    }
}

/// The end of a log, which is kept apart from its rows, so that rows that are missing there are noticed.
struct AuditEnd: Sendable, Hashable {
    var log: [UInt8]
    var number: Int
    var digest: [UInt8]
    /// The newest row with a seal, and the seal of this end; nil while no row has one.
    var sealed: Int?
    var seal: [UInt8]?

    /// Seals it. Its row has a seal too.
    mutating func seal(with key: SecretBytes) throws(CryptographyError) {
        (sealed, seal) = (number, try AuditChain(log: log).endSeal(number, digest, key))
    }
}
