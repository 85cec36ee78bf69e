public import Capabilities
import JSON
public import StorageKit

/// A certificate that the user has accepted for one server.
public struct Pin: Sendable, Hashable {
    /// The only server for which the certificate is accepted.
    public var server: ServerAddress
    /// The facts of the accepted certificate.
    public var certificate: PinnedCertificate
    /// When the user accepted it.
    public var acceptedAt: Timestamp
    /// Whether the user answered a question or named the fingerprint.
    public var how: Acceptance

    /// A pin that is not stored yet; `PinStore.keep` stores it.
    public init(server: ServerAddress, certificate: PinnedCertificate, acceptedAt: Timestamp, how: Acceptance) {
        self.server = server
        self.certificate = certificate
        self.acceptedAt = acceptedAt
        self.how = how
    }

    /// How the user accepted it.
    public enum Acceptance: String, Choice, Hashable {
        /// By answering a question about the certificate.
        case asked
        /// By naming the fingerprint in a command.
        case fingerprint
    }
}

/// The host and port of a pin.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    /// In lower case. An IPv6 address has no brackets.
    public let host: String
    /// The TCP port.
    public let port: Int

    /// - Parameter host: in lower case, and without brackets for an IPv6 address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The stored facts of a certificate, to compare a later one with.
public struct PinnedCertificate: Sendable, Hashable {
    /// SHA-256 of the whole certificate. It decides whether a certificate matches.
    public var fingerprint: [UInt8]
    /// SHA-256 of the public key. An equal one after a change suggests a renewal; it decides nothing.
    public var keyFingerprint: [UInt8]
    /// The certificate itself, as DER.
    public var encoded: [UInt8]
    /// The subject as the server presented it, not yet escaped for display.
    public var subject: String
    /// The issuer as the server presented it, not yet escaped for display.
    public var issuer: String
    /// The host names in the certificate, not yet escaped for display. Empty when it has none.
    public var names: [String]
    /// When it becomes valid.
    public var notBefore: Timestamp
    /// When it expires. A pinned certificate is still accepted then, with a warning.
    public var notAfter: Timestamp

    init(
        fingerprint: [UInt8], keyFingerprint: [UInt8], encoded: [UInt8], subject: String, issuer: String,
        names: [String], notBefore: Timestamp, notAfter: Timestamp
    ) {
        self.fingerprint = fingerprint
        self.keyFingerprint = keyFingerprint
        self.encoded = encoded
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// The facts of a certificate that a server has just presented.
    public init(_ shown: PresentedCertificate) {
        self.init(
            fingerprint: shown.fingerprint, keyFingerprint: shown.keyFingerprint, encoded: shown.encoded,
            subject: shown.subject, issuer: shown.issuer, names: shown.names, notBefore: shown.notBefore,
            notAfter: shown.notAfter)
    }
}

extension PresentedCertificate {
    /// The server that presented it.
    public var server: ServerAddress { ServerAddress(host: host.lowercased(), port: port) }
}

/// The user's pins, in Auth's database.
public final class PinStore: Sendable {
    private let database: Database

    /// - Parameter database: Auth's database, which has the tables of `migrations`. Its owner closes it.
    public init(database: Database) {
        self.database = database
    }

    /// The tables that the store needs.
    public static let migrations: [Migration] = [
        Migration(
            "pins",
            """
            CREATE TABLE pins (
                host TEXT NOT NULL, port INTEGER NOT NULL, fingerprint BLOB NOT NULL, key_fingerprint BLOB NOT NULL,
                certificate BLOB NOT NULL, subject TEXT NOT NULL, issuer TEXT NOT NULL, names TEXT NOT NULL,
                not_before INTEGER NOT NULL, not_after INTEGER NOT NULL, accepted_at INTEGER NOT NULL, how TEXT NOT NULL,
                PRIMARY KEY (host, port)
            ) STRICT, WITHOUT ROWID;
            -- Counts what took trust away, so that other processes stop using connections that were made under it.
            CREATE TABLE withdrawals (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
            INSERT INTO withdrawals VALUES (1, 0);
            """)
    ]

    /// All pins, sorted by host and port.
    public func all() async throws -> [Pin] {
        try await database.read { connection in
            try connection.all(
                """
                SELECT host, port, fingerprint, key_fingerprint, certificate, subject, issuer, names, not_before,
                    not_after, accepted_at, how
                FROM pins ORDER BY host, port
                """, row: Self.pin)
        }
    }

    /// The servers with a pin and the subjects of their certificates, for what a person is offered while typing: only
    /// what is in the database now, which is not created for this.
    public func offered() -> [(server: ServerAddress, subject: String)] {
        let found: [(server: ServerAddress, subject: String)]? = database.glance { connection in
            try connection.all("SELECT host, port, subject FROM pins ORDER BY host, port LIMIT 200") { row in
                (server: ServerAddress(host: try row[0], port: try row[1]), subject: try row[2] as String)
            }
        }
        return found ?? []
    }

    /// The pin of a server. This blocks the calling thread for one lookup.
    public func pin(of server: ServerAddress) throws -> Pin? {
        try database.readNow { connection in
            try connection.first(
                """
                SELECT host, port, fingerprint, key_fingerprint, certificate, subject, issuer, names, not_before,
                    not_after, accepted_at, how
                FROM pins WHERE host = ? AND port = ?
                """, server.host, server.port, row: Self.pin)
        }
    }

    /// How often trust was withdrawn. This blocks the calling thread for one lookup.
    public func withdrawals() throws -> Int {
        try database.readNow { try $0.first("SELECT count FROM withdrawals") { try $0[0] } ?? 0 }
    }

    /// Stores a pin. It replaces the server's former pin.
    public func keep(_ pin: Pin) async throws {
        let names = JSON.array(pin.certificate.names.map(JSON.string)).text()
        try await database.write { connection in
            let certificate = pin.certificate
            let replaced = try connection.run(
                "DELETE FROM pins WHERE host = ? AND port = ?", pin.server.host, pin.server.port)
            try connection.run(
                "INSERT INTO pins VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", pin.server.host, pin.server.port,
                certificate.fingerprint, certificate.keyFingerprint, certificate.encoded, certificate.subject,
                certificate.issuer, names, certificate.notBefore, certificate.notAfter, pin.acceptedAt, pin.how)
            if replaced > 0 { try connection.run("UPDATE withdrawals SET count = count + 1") }
        }
    }

    /// Removes the pin of a server. False when it had none.
    public func remove(_ server: ServerAddress) async throws -> Bool {
        try await database.write { connection in
            let removed = try connection.run(
                "DELETE FROM pins WHERE host = ? AND port = ?", server.host, server.port)
            if removed > 0 { try connection.run("UPDATE withdrawals SET count = count + 1") }
            return removed > 0
        }
    }

    private static func pin(_ row: borrowing Row) throws -> Pin {
        let names = try JSON(parsing: Array((row[7] as String).utf8)).array?.compactMap(\.string) ?? []
        return Pin(
            server: ServerAddress(host: try row[0], port: try row[1]),
            certificate: PinnedCertificate(
                fingerprint: try row[2], keyFingerprint: try row[3], encoded: try row[4], subject: try row[5],
                issuer: try row[6], names: names, notBefore: try row[8], notAfter: try row[9]),
            acceptedAt: try row[10], how: try row[11])
    }
}

extension Pin.Acceptance: Storable {}
