import Capabilities
import FileKit
import JSON
import StorageKit

extension AuditStore {
    /// The whole log as lines of JSON: first the log and its end, then its rows, oldest first. Members without a value are
    /// left out. `detail` and `content` are texts, because the digests are those of their bytes.
    func exported() async throws -> String {
        guard Files.exists(database.path) else { return "" }
        return try await database.read { connection in
            let end = try connection.auditEnd()
            var text = Self.line(end)
            let sql = "SELECT " + Self.columns + ", e.seal FROM entries AS e ORDER BY e.number"
            try connection.forEach(sql) { row in
                text += Self.line(try AuditRecord(row), try row[19], try row[20])
            }
            return text
        }
    }

    /// Whether an entry is still the one that it was.
    func contains(_ mark: AuditMark) async throws -> Bool {
        guard Files.exists(database.path) else { return false }
        return try await database.read { connection in
            let digest = try connection.first("SELECT digest FROM entries WHERE number = ?", mark.number) { row in
                try row[0] as [UInt8]
            }
            return digest.map { Hexadecimal.encode($0) } == mark.digest
        }
    }

    private static func line(_ end: AuditEnd) -> String {
        var object: JSONObject = ["format": "martlet-audit-1", "log": hex(end.log), "newest": .int(end.number)]
        object["digest"] = hex(end.digest)
        if let sealed = end.sealed { object["sealed"] = .int(sealed) }
        if let seal = end.seal { object["seal"] = hex(seal) }
        return JSON.object(object).text() + "\n"
    }

    private static func line(_ record: AuditRecord, _ digest: [UInt8], _ seal: [UInt8]?) -> String {
        var object: JSONObject = [
            "number": .int(record.number), "time": .int(Int(record.time.microseconds)),
            "at": .string(record.time.iso8601),
        ]
        if let completes = record.completes { object["completes"] = .int(completes) }
        if let number = record.originNumber { object["origin_number"] = .int(number) }
        let texts: [(String, String?)] = [
            ("origin", record.origin), ("project", record.project), ("session", record.session),
            ("conversation", record.conversation), ("actor", record.actor), ("action", record.action),
            ("source", record.source), ("subject", record.subject), ("decision", record.decision),
            ("rule", record.rule), ("outcome", record.outcome), ("detail", record.detail),
            ("content", record.content?.text),
        ]
        for (name, text) in texts { if let text { object[name] = .string(text) } }
        if let content = record.content {
            object["content_digest"] = hex(content.digest)
            if let salt = content.salt { object["salt"] = hex(salt) }
        }
        object["digest"] = hex(digest)
        if let seal { object["seal"] = hex(seal) }
        return JSON.object(object).text() + "\n"
    }

    private static func hex(_ bytes: [UInt8]) -> JSON { .string(Hexadecimal.encode(bytes)) }
}
