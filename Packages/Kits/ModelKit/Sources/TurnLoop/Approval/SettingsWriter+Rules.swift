public import Capabilities
import JSON
import Synchronization

extension SettingsWriter {
    /// Takes a rule out of a list in the person's own settings. Throws where it stands elsewhere, such as in a project's.
    public func remove(_ rule: KeptRule, from key: [String]) async throws {
        let isFound = Mutex(false)
        try await edit { own in
            let listed = key.reduce(Optional(own)) { $0?[$1] }?.array ?? []
            let others = listed.filter { json in
                do throws(ValueError) { return try ApprovalRule(json: json).json != rule.rule } catch { return true }
            }
            isFound.withLock { $0 = others.count < listed.count }
            return [(key, others.isEmpty ? nil : .array(others))]
        }
        if !isFound.withLock({ $0 }) { throw ForeignRule(key: key.joined(separator: ".")) }
    }
}

/// A rule that is not the person's own.
private struct ForeignRule: Failure {
    let key: String
    var code: String { "rules.foreign" }
    var message: String {
        "this rule does not stand in your own settings; 'martlet config get \(key)' says which file has it"
    }
}
