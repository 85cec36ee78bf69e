public import Capabilities
public import JSON

/// Who has to agree before a tool is used.
///
/// Of the rules that fit a call, those count that describe its input and its tool most closely. Among them one that
/// denies wins, then the one that names the source more closely, then the one nearest to the conversation (conversation,
/// project, always), then one that asks over one that allows. So an approval that is remembered for a conversation beats
/// the question of a setting, and nothing beats a denial that is as close. Where no rule fits, what reads is allowed, and
/// all else is asked.
public struct ApprovalPolicy: InputValue, OutputValue, Hashable {
    public var rules: [ApprovalRule]

    public init(rules: [ApprovalRule] = []) {
        self.rules = rules
    }

    /// A list of rules.
    public static let schema = Schema.array(ApprovalRule.schema)
    public static var whenAbsent: ApprovalPolicy? { ApprovalPolicy() }

    public init(json: JSON) throws(ValueError) {
        rules = try [ApprovalRule](json: json)
    }

    public var json: JSON { rules.json }

    /// What happens to a call, and the rule that says so; without one it is the tool's effect.
    public func verdict(for request: ApprovalRequest) -> (verdict: ApprovalVerdict, rule: ApprovalRule?) {
        var best: ApprovalRule?
        for rule in rules where rule.fits(request) {
            if best.map({ rule.outweighs($0) }) ?? true { best = rule }
        }
        if let best { return (best.verdict, best) }
        return (request.effect == .reads ? .allow : .ask, nil)
    }
}

extension ApprovalRule {
    fileprivate func outweighs(_ other: ApprovalRule) -> Bool {
        if precision != other.precision { return other.precision.lexicographicallyPrecedes(precision) }
        if (verdict == .deny) != (other.verdict == .deny) { return verdict == .deny }
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
