import Capabilities
import Cryptography
import JSON

/// What is sealed: `{"secrets": {"openai": {"value": "…", "changed": "2026-11-21T09:30:00Z"}}}`.
///
/// All secrets are in memory only while the vault is written; a reader takes out what it came for.
struct VaultContent: Sendable {
    struct Record: Sendable {
        var value: Secret
        var changed: Timestamp
    }

    private(set) var records: [SecretName: Record] = [:]

    init() {}

    subscript(name: SecretName) -> Secret? { records[name]?.value }

    mutating func store(_ secret: Secret, named name: SecretName, at time: Timestamp) throws(VaultError) {
        guard records[name] != nil || records.count < SecretRules.mostSecrets else {
            throw VaultError(.size, "the vault holds 10,000 secrets, which is the limit; remove what is not needed")
        }
        records[name] = Record(value: secret, changed: time)
    }

    mutating func remove(_ name: SecretName) {
        records[name] = nil
    }

    /// The text to be sealed; whoever calls wipes it.
    func encoded() -> [UInt8] {
        var secrets = JSONObject()
        for (name, record) in records.sorted(by: { $0.key.text < $1.key.text }) {
            let value = record.value.withText { JSON.string($0) }
            secrets.append(name.text, ["value": value, "changed": .string(record.changed.iso8601)])
        }
        var bytes: [UInt8] = []
        // Room for all, because an array that grows leaves its old bytes behind.
        bytes.reserveCapacity(64 + records.reduce(0) { $0 + 256 + $1.value.value.withText { $0.utf8.count } * 2 })
        JSON.object(["secrets": .object(secrets)]).write(into: &bytes)
        return bytes
    }
}

// MARK: Reading

extension VaultContent {
    init(reading body: SecretBytes, path: String) throws {
        try Self.forEach(in: body, path: path) { name, reader in
            var value = ""
            let changed = try Self.member(&reader) { value = $0 }
            records[name] = Record(value: Secret(value), changed: changed)
        }
    }

    /// One secret; the text of the others is stepped over.
    static func secret(named wanted: SecretName, in body: SecretBytes, path: String) throws -> Secret? {
        var found: Secret?
        try forEach(in: body, path: path) { name, reader in
            guard name == wanted else { return }
            _ = try member(&reader) { found = Secret($0) }
        }
        return found
    }

    /// The names and when each was last changed.
    static func entries(in body: SecretBytes, path: String) throws -> [SecretEntry] {
        var entries: [SecretEntry] = []
        try forEach(in: body, path: path) { name, reader in
            entries.append(SecretEntry(name: name, changed: try member(&reader, value: nil)))
        }
        return entries.sorted { $0.name.text < $1.name.text }
    }

    private static func forEach(
        in body: SecretBytes, path: String, _ visit: (SecretName, inout JSONPullReader) throws -> Void
    ) throws {
        do {
            try body.withBytes { bytes in
                try JSONPullReader.read(bytes) { reader in
                    try reader.object { reader, key in
                        guard key == "secrets" else { return }
                        try reader.object { reader, key in try visit(SecretName(String(copying: key)), &reader) }
                    }
                }
            }
        } catch is JSONError {
            // The words of the reader could quote a secret.
            throw VaultError.damaged(path)
        }
    }

    private static func member(
        _ reader: inout JSONPullReader, value take: ((String) -> Void)?
    ) throws -> Timestamp {
        var changed: Timestamp?
        try reader.object { reader, key in
            switch key {
            case "value": if let take { take(try reader.string()) }
            case "changed": changed = Timestamp(iso8601: try reader.string())
            default: break
            }
        }
        return changed ?? Timestamp(microseconds: 0)
    }
}
