public import Capabilities
public import JSON

/// The rules of a person about tools, and how far a model goes where none of them fits. They are read here, and
/// `Grant.decide` decides by them.
///
/// A denial wins over everything. Of the other rules that fit a call, those count that describe its input and its tool
/// most closely. Among them the one wins that names the source more closely, then the one nearest to the conversation
/// (conversation, project, always), then one that asks over one that allows. So an approval that is remembered for a
/// conversation beats the question of a setting.
///
/// Of several commands in one the strictest verdict counts.
public struct ApprovalPolicy: InputValue, OutputValue, Hashable {
    public var rules: [ApprovalRule]
    /// What relative paths in rules and calls, and `~`, stand for.
    public var places: PathGlob.Places

    /// What holds where no rule fits.
    public var mode: ToolMode

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

    /// What the rules say of a call, with the one that says so; nil where none is about it. Who may do it is decided by the
    /// grant of the caller.
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
        // Of what cannot be read as commands, the whole.
        var parts: [[String]?] = [nil]
        if let text = request.command, case .plain(let commands) = ShellCommand(text), commands.count <= Self.mostParts
        {
            parts = commands
        }
        let found = parts.map { rule(for: request, words: $0) }
        if let asking = found.lazy.compactMap(\.self).first(where: { $0.verdict == .ask }) { return (.ask, asking) }
        // A rule for one of several commands says nothing of the others.
        guard let first = found.first, let first, found.allSatisfy({ $0 != nil }) else { return nil }
        return (first.verdict, first)
    }

    /// Nobody writes more commands into one; each is compared with each rule.
    private static let mostParts = 100

    /// - Parameter words: of several commands the one that is meant.
    private func rule(for request: ApprovalRequest, words: [String]?) -> ApprovalRule? {
        var best: ApprovalRule?
        for rule in rules where rule.verdict != .deny && rule.fit(request, words, in: places) != .no {
            if best.map({ rule.outweighs($0) }) ?? true { best = rule }
        }
        return best
    }

    /// Patterns for the files and folders that no tool of a source may open, or may only read, so that a denial holds for
    /// whatever would come there.
    ///
    /// - Parameter tools: those of the source by which files are read and written.
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

extension ApprovalRule {
    fileprivate func outweighs(_ other: ApprovalRule) -> Bool {
        if precision != other.precision { return other.precision.lexicographicallyPrecedes(precision) }
        let (own, others) = (sourcePrecision, other.sourcePrecision)
        if own != others { return own > others }
        if scope != other.scope { return scope.nearness > other.scope.nearness }
        return verdict == .ask && other.verdict == .allow
    }

    private var sourcePrecision: Int { source.map { 1 + Glob.precision(of: $0) } ?? 0 }
}

extension ApprovalScope {
    fileprivate var nearness: Int {
        switch self {
        case .once: 3
        case .conversation: 2
        case .project: 1
        case .always: 0
        }
    }
}
