public import Capabilities
public import JSON
import Synchronization

/// The rules of a folder, whoever was asked in it: one record for all that let models work there.
public struct FolderApprovals: Sendable {
    private let folders: any FolderRules

    public init(_ folders: any FolderRules) {
        self.folders = folders
    }

    /// What holds in a folder. What cannot be read denies, since it may have been a denial, and that is told.
    public func rules(in folder: String, telling tell: (String) -> Void) -> [ApprovalRule] {
        let record: FolderRecord
        do { record = try folders.record(of: folder) } catch {
            tell("what was decided in this folder could not be read, so no tool is used: \(AnyFailure(error).message)")
            return [ApprovalRule(.deny, scope: .project)]
        }
        return record.rules.map { json in
            ApprovalRule.remembered(json, .project) { tell("\($0); 'martlet chat disallow' takes it back") }
        }
    }

    /// Adds one rule, in the place of another for the same calls: who says something else later means that.
    public func remember(_ rule: ApprovalRule, in folder: String) async throws {
        var rule = rule
        rule.scope = .project
        try await folders.change(folder) { [rule] record in
            record.rules.removeAll { rule.isAbout(sameCallsAs: $0) }
            record.rules.append(rule.json)
        }
    }

    /// Takes in rules that were kept elsewhere before. Whoever calls this removes them there afterwards, so that nothing is
    /// lost in between, and doing it twice changes nothing.
    ///
    /// An allowance that would allow nothing any more is asked about from now on, which is told.
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
                "the rule of this folder for '\(PlainText.escape(rule.tool))' \(PlainText.escape(emptiness)); from now on you "
                    + "are asked")
        }
        try await folders.change(folder) { [adopted] record in
            record.rules += adopted.filter { !record.rules.contains($0) }
        }
    }
}

extension ApprovalRule {
    /// A rule that was kept. What cannot be read any more denies, since it may have been a denial.
    ///
    /// - Parameters:
    ///   - scope: that of the place where it was kept, whatever it says itself.
    ///   - tell: is given why it denies.
    public static func remembered(_ json: JSON, _ scope: ApprovalScope, telling tell: (String) -> Void) -> ApprovalRule
    {
        do throws(ValueError) {
            var rule = try ApprovalRule(json: json)
            rule.scope = scope
            return rule
        } catch {
            let tool = json["tool"]?.string
            let what = tool.map { "'\(PlainText.escape($0))' is" } ?? "all tools are"
            tell(
                "\(what) denied, as a rule that was remembered for this \(scope.rawValue) cannot be read (it"
                    + " \(error.message))")
            return ApprovalRule(.deny, tool: tool ?? "*", scope: scope)
        }
    }

    fileprivate static func readable(_ json: JSON) -> ApprovalRule? {
        do throws(ValueError) { return try ApprovalRule(json: json) } catch { return nil }
    }

    fileprivate func isAbout(sameCallsAs json: JSON) -> Bool {
        guard let other = Self.readable(json) else { return false }
        return (tool, source, arguments) == (other.tool, other.source, other.arguments)
    }
}

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
