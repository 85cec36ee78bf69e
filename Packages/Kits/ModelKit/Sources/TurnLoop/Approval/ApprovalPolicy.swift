public import Capabilities
public import JSON

/// Who has to agree before a tool is used.
///
/// A denial wins over everything. Of the other rules that fit a call, those count that describe its input and its tool
/// most closely. Among them the one wins that names the source more closely, then the one nearest to the conversation
/// (conversation, project, always), then one that asks over one that allows. So an approval that is remembered for a
/// conversation beats the question of a setting. Where no rule fits, the mode says what is allowed, and all else is asked.
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

    /// What happens to a call, and the rule that says so; without one it is the mode.
    public func verdict(for request: ApprovalRequest) -> (verdict: ApprovalVerdict, rule: ApprovalRule?) {
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
        let verdicts = parts.map { verdict(for: request, words: $0) }
        return verdicts.first { $0.verdict == .ask } ?? verdicts[0]
    }

    /// Nobody writes more commands into one; each is compared with each rule.
    private static let mostParts = 100

    /// - Parameter words: of several commands the one that is meant.
    private func verdict(
        for request: ApprovalRequest, words: [String]?
    ) -> (verdict: ApprovalVerdict, rule: ApprovalRule?) {
        var best: ApprovalRule?
        for rule in rules where rule.verdict != .deny && rule.fit(request, words, in: places) != .no {
            if best.map({ rule.outweighs($0) }) ?? true { best = rule }
        }
        if let best { return (best.verdict, best) }
        return (mode.allows(request) ? .allow : .ask, nil)
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

extension ToolMode {
    fileprivate func allows(_ request: ApprovalRequest) -> Bool {
        if request.sends { return false }
        if request.effect == .reads { return true }
        if let command = request.reach.command { return self == .full && command.isSandboxed }
        return self != .readOnly && request.reach.onlyWritesPaths
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
