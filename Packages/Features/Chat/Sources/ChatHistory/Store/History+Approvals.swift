public import JSON
import StorageKit

/// The tool rules of a conversation, in the format of the caller. Rules of folders were also stored here before folders
/// had records; they are moved there.
extension History {
    /// The rules of a conversation.
    public func rules(of id: ConversationID) async throws -> [JSON] {
        try await conversation(id).setup.rules
    }

    /// Adds a rule to a conversation. A rule that already exists changes nothing.
    public func add(_ rule: JSON, to id: ConversationID) async throws {
        _ = try await change(id) { connection, row in
            let rules = try connection.rules(of: row)
            guard !rules.contains(rule) else { return }
            try connection.set(rules: rules + [rule], of: row)
        }
    }

    /// Removes the rules of a conversation and returns their number.
    @discardableResult
    public func removeRules(of id: ConversationID) async throws -> Int {
        try await database.write { connection in
            let row = try connection.row(of: id)
            let count = try connection.rules(of: row).count
            try connection.set(rules: [], of: row)
            return count
        }
    }

    /// The rules of each conversation that is not deleted.
    public func allRules() async throws -> [(conversation: ConversationID, rules: [JSON])] {
        try await database.read { connection in
            try connection.all(
                "SELECT name, tools FROM conversations WHERE deleted IS NULL AND tools != '{}' ORDER BY updated DESC, id DESC"
            ) { row in
                (ConversationID(rawValue: try row[0]), try Connection.json(row[1])["rules"]?.array ?? [])
            }
        }
    }

    /// Removes one rule.
    public func remove(_ rule: JSON, of id: ConversationID) async throws {
        _ = try await change(id) { connection, row in
            try connection.set(rules: try connection.rules(of: row).filter { $0 != rule }, of: row)
        }
    }

    /// The rules of a project, named by its folder, that are not in its record yet.
    public func rules(ofProject folder: String) async throws -> [JSON] {
        try await database.read { connection in
            try connection.all("SELECT rule FROM approvals WHERE project = ? ORDER BY rule", folder) { row in
                try Connection.json(row[0])
            }
        }
    }

    /// Removes the rules that are now in the folder's record, all or none.
    public func removeRules(_ rules: [JSON], ofProject folder: String) async throws {
        try await database.write { connection in
            for rule in rules {
                try connection.run("DELETE FROM approvals WHERE project = ? AND rule = ?", folder, rule.text())
            }
        }
    }
}

extension Connection {
    fileprivate func rules(of conversation: Int64) throws -> [JSON] {
        let text: String? = try first("SELECT tools FROM conversations WHERE id = ?", conversation) { row in
            try row[0]
        }
        return try text.map(Self.json)?["rules"]?.array ?? []
    }

    fileprivate func set(rules: [JSON], of conversation: Int64) throws {
        let tools: JSON = rules.isEmpty ? [:] : ["rules": .array(rules)]
        try run("UPDATE conversations SET tools = ? WHERE id = ?", tools.text(), conversation)
    }
}
