import Capabilities
import Cryptography
import ModelKit
import StorageKit

extension Connection {
    /// The parts of a message, whose large contents are stored once each, whoever has them.
    func blobs(of message: MessageID) -> MessageCoding {
        blobs { blob in
            try self.run("INSERT OR IGNORE INTO message_blobs (message, blob) VALUES (?, ?)", message, blob)
        }
    }

    /// The result of a call in the same way.
    func blobs(of call: CallID) -> MessageCoding {
        blobs { blob in
            try self.run("INSERT OR IGNORE INTO call_blobs (call, blob) VALUES (?, ?)", call, blob)
        }
    }

    /// `use` is told the row of each.
    private func blobs(use: @escaping (Int64) throws -> Void) -> MessageCoding {
        MessageCoding { bytes in
            let digest = Hexadecimal.encode(Digest.sha256(bytes))
            try use(try self.row(ofBlob: digest) ?? self.insertBlob(digest, bytes))
            return digest
        } fetch: { digest in
            try self.blob(digest)
        }
    }

    /// Parts to be read.
    var blobs: MessageCoding { blobs(use: { _ in }) }

    private func row(ofBlob digest: String) throws -> Int64? {
        try first("SELECT id FROM blobs WHERE digest = ?", digest) { row in try row[0] as Int64 }
    }

    private func insertBlob(_ digest: String, _ bytes: [UInt8]) throws -> Int64 {
        try run("INSERT INTO blobs (digest, bytes) VALUES (?, ?)", digest, bytes)
        return try lastInsertedID
    }

    private func blob(_ digest: String) throws -> [UInt8] {
        let bytes: [UInt8]? = try first("SELECT bytes FROM blobs WHERE digest = ?", digest) { row in try row[0] }
        guard let bytes else { throw ValueError("refers to contents that are not there") }
        return bytes
    }

    /// Removes contents that nothing refers to any more.
    func sweepBlobs() throws {
        try run(
            """
            DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM message_blobs WHERE blob = blobs.id)
                AND NOT EXISTS (SELECT 1 FROM call_blobs WHERE blob = blobs.id)
            """)
    }
}
