public import Capabilities
import JSON

/// The log in which a turn records its calls, and what every entry says about the turn.
///
/// A call that may change or send something is recorded before it runs, and does not run if that fails. A call that only
/// reads is recorded when it has ended, and the turn goes on without the record.
public struct CallAudit: Sendable {
    /// The log.
    public let log: any AuditLog
    /// The project of the turn.
    public var project: String?
    /// The session of the turn.
    public var session: String?
    /// Finds the conversation of the turn, which may be stored only while the model answers.
    public var conversation: @Sendable () async -> String? = { nil }
    /// The client for which the turn runs.
    public var client: String?
    /// Who answers questions about calls, as the log names them.
    public var person = "person"
    /// Whether calls that only read are recorded too.
    public var hasReads = true
    /// Whether the input of calls is recorded. It may hold what is written in the conversation.
    public var hasInput = true

    /// Records all calls of a turn that belongs to no project and no conversation.
    public init(_ log: any AuditLog) {
        self.log = log
    }

    /// The entry for a call as it stands.
    public func entry(for update: CallUpdate) async -> AuditEntry {
        var detail: JSONObject = ["id": .string(update.call.id)]
        if update.result != nil { detail["state"] = update.state.json }
        if hasInput { detail["input"] = update.call.input }
        if let client { detail["client"] = .string(client) }
        if let effect = update.effect { detail["effect"] = effect.json }
        if let source = update.source { detail["source"] = .string(source) }
        for (name, value) in update.resultDetail { detail[name] = value }
        return AuditEntry(
            project: project, session: session, conversation: await conversation(), actor: "model", action: "tool.call",
            source: update.source, subject: update.tool ?? update.call.name,
            decision: update.decision?.words(person: person), rule: update.decision?.ruleText,
            outcome: update.result == nil ? nil : update.state.rawValue, detail: .object(detail))
    }

    /// How a call that was recorded before has ended.
    public func completion(of update: CallUpdate) -> AuditCompletion {
        var detail: JSONObject = ["state": update.state.json]
        for (name, value) in update.resultDetail { detail[name] = value }
        return AuditCompletion(outcome: update.state.rawValue, detail: detail)
    }
}

extension CallUpdate {
    fileprivate var resultDetail: JSONObject {
        var detail: JSONObject = [:]
        if let code = result?.exitCode { detail["exit_code"] = .int(code) }
        if let time = result?.duration { detail["duration_ms"] = .int(Int(time / .milliseconds(1))) }
        return detail
    }
}

extension ApprovalDecision {
    /// The decision, and who made it.
    fileprivate func words(person: String) -> String {
        let origin =
            switch by {
            case .rule(let rule): "by a rule of the \(rule.scope == .conversation ? "session" : rule.scope.rawValue)"
            case .effect: "because it only reads"
            case .person: "by the \(person)"
            case .nobody: "because nobody answered"
            }
        return "\(isAllowed ? "allowed" : "denied") \(origin)"
    }

    fileprivate var ruleText: String? {
        guard case .rule(let rule) = by else { return nil }
        return rule.json.text()
    }
}
