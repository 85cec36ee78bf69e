public import Capabilities
public import JSON
import Synchronization

/// The rules of a folder, from one record for all features that let models work there.
public struct FolderApprovals: Sendable {
    private let folders: any FolderRules

    /// - Parameter folders: the record of the host, which all features share.
    public init(_ folders: any FolderRules) {
        self.folders = folders
    }

    /// The rules of a folder. An unreadable record denies everything, because it may contain denials, and is reported.
    public func rules(in folder: String, telling tell: (String) -> Void) -> [ApprovalRule] {
        let record: FolderRecord
        do { record = try folders.record(of: folder) } catch {
            tell("the rules of this folder could not be read, so no tool is used: \(AnyFailure(error).message)")
            return [ApprovalRule(.deny, scope: .project)]
        }
        return record.rules.map { json in
            ApprovalRule.remembered(json, .project) { tell("\($0); 'martlet chat disallow' removes it") }
        }
    }

    /// Adds a rule and replaces an earlier one for the same calls.
    public func remember(_ rule: ApprovalRule, in folder: String) async throws {
        var rule = rule
        rule.scope = .project
        try await folders.change(folder) { [rule] record in
            record.rules.removeAll { rule.isAbout(sameCallsAs: $0) }
            record.rules.append(rule.json)
        }
    }

    /// Adopts rules that were stored elsewhere. The caller removes them there afterwards, so that nothing is lost in
    /// between. Doing it twice changes nothing.
    ///
    /// An allow rule that has no effect any more becomes a question, which is reported.
    public func adopt(_ rules: [JSON], in folder: String, telling tell: (String) -> Void) async throws {
        guard !rules.isEmpty else { return }
        var adopted: [JSON] = []
        for json in rules {
            guard var rule = ApprovalRule.readable(json), rule.verdict == .allow, let emptiness = rule.emptiness else {
                adopted.append(json)
                continue
            }
            rule.verdict = .ask
            adopted.append(rule.json)
            tell(
                "the rule of this folder for '\(PlainText.escape(rule.tool))' \(PlainText.escape(emptiness)); you will be "
                    + "asked from now on")
        }
        try await folders.change(folder) { [adopted] record in
            record.rules += adopted.filter { !record.rules.contains($0) }
        }
    }
}

extension SettingsWriter {
    /// Removes a rule from a list in the user's own settings. Throws if it is elsewhere, such as in a project's
    /// settings.
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

/// A rule that is not in the user's own settings.
private struct ForeignRule: Failure {
    let key: String
    var code: String { "rules.foreign" }
    var message: String {
        "this rule is not in your own settings; 'martlet config get \(key)' shows which file contains it"
    }
}
