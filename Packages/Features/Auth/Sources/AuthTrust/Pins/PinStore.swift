import Capabilities
import JSON
public import StorageKit

/// The pins of this person, in Auth's database.
public final class PinStore: Sendable {
    private let database: Database

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

    /// Every pin, by host and port.
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

    /// The pin of a server. It blocks the calling thread for the time of one lookup.
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

    /// How often trust was taken away. It blocks the calling thread for the time of one lookup.
    public func withdrawals() throws -> Int {
        try database.readNow { try $0.first("SELECT count FROM withdrawals") { try $0[0] } ?? 0 }
    }

    /// Keeps a pin; the one that the server had before is gone.
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

    /// Forgets the pin of a server; false when it had none.
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
