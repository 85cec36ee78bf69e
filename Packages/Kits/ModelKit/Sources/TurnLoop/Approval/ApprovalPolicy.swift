public import Capabilities
public import JSON

/// The user's rules for tools, and the mode for calls without a rule. `Grant.decide` makes the decision.
///
/// A denial always wins. Of the other matching rules, those that describe the input and the tool most closely count.
/// Among them, the one with the closer source wins, then the one nearest to the conversation (conversation, project,
/// always), then a question over an approval. So an approval for a conversation takes precedence over a question in the
/// settings.
///
/// For several commands in one call, the strictest verdict counts.
public struct ApprovalPolicy: InputValue, OutputValue, Hashable {
    /// The user's rules, of all scopes.
    public var rules: [ApprovalRule]
    /// The folders for relative paths in rules and calls, and for `~`.
    public var places: PathGlob.Places

    /// The mode for calls without a matching rule.
    public var mode: ToolMode

    /// - Parameter mode: applies to calls without a rule; by default they may only read.
    public init(
        rules: [ApprovalRule] = [], in places: PathGlob.Places = PathGlob.Places(), mode: ToolMode = .readOnly
    ) {
        self.rules = rules
        self.places = places
        self.mode = mode
    }

    /// A list of rules.
    public static let schema = Schema.array(ApprovalRule.schema)
    public static var whenAbsent: ApprovalPolicy? { ApprovalPolicy() }

    public init(json: JSON) throws(ValueError) {
        self.init(rules: try [ApprovalRule](json: json))
    }

    public var json: JSON { rules.json }

    /// The verdict of the rules for a call, with the deciding rule; nil if none matches. The caller's grant decides
    /// whether the call may run.
    public func ruling(for request: ApprovalRequest) -> (verdict: ApprovalVerdict, rule: ApprovalRule)? {
        var doubt: ApprovalRule?
        for rule in rules where rule.verdict == .deny {
            switch rule.fit(request, in: places) {
            case .yes: return (.deny, rule)
            case .perhaps: doubt = rule
            case .no: continue
            }
        }
        if let doubt { return (.ask, doubt) }
        // If the text cannot be read as commands, the whole of it.
        var parts: [[String]?] = [nil]
        if let text = request.command, case .plain(let commands) = ShellCommand(text), commands.count <= Self.mostParts
        {
            parts = commands
        }
        let found = parts.map { rule(for: request, words: $0) }
        if let asking = found.lazy.compactMap(\.self).first(where: { $0.verdict == .ask }) { return (.ask, asking) }
        // A rule for one of several commands does not apply to the others.
        guard let first = found.first, let first, found.allSatisfy({ $0 != nil }) else { return nil }
        return (first.verdict, first)
    }

    /// The limit of commands in one call, because each is compared with each rule.
    private static let mostParts = 100

    /// - Parameter words: the command to decide about, if there are several.
    private func rule(for request: ApprovalRequest, words: [String]?) -> ApprovalRule? {
        var best: ApprovalRule?
        for rule in rules where rule.verdict != .deny && rule.fit(request, words, in: places) != .no {
            if best.map({ rule.outweighs($0) }) ?? true { best = rule }
        }
        return best
    }

    /// Patterns for the files and folders that no tool of a source may open, or may only read, so that a denial applies
    /// to every tool.
    ///
    /// - Parameter tools: the tools of the source that read and write files.
    public func deniedPaths(of source: String, _ tools: [ToolDescription]) -> DeniedPaths {
        var denied = DeniedPaths()
        for rule in rules where rule.verdict == .deny && rule.source.map({ Glob.matchesWide($0, source) }) != false {
            guard rule.arguments.count == 1, let (pointer, pattern) = rule.arguments.first,
                JSONPointer.namesPath(pointer)
            else { continue }
            let named = tools.filter { Glob.matchesWide(rule.tool, $0.name) }
            if named.contains(where: { $0.effect == .reads }) {
                denied.reading.append(pattern)
            } else if !named.isEmpty {
                denied.writing.append(pattern)
            }
        }
        return denied
    }
}
