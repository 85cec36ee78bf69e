public import JSON

/// Keeps rules about what models may do unasked, so that whoever lists them finds all, wherever they are, and can take any
/// of them back.
public protocol RuleKeeper: AnyObject, Sendable {
    /// Those that hold everywhere and those of a folder. Throws where they cannot be read.
    func keptRules(in folder: String) async throws -> [KeptRule]
    /// Takes one back that it has listed. One that is gone already is no error.
    func remove(_ rule: KeptRule) async throws
}

extension [any RuleKeeper] {
    /// All that hold in these folders: what holds always first, then what holds in the folder, then what ends with what was said.
    public func keptRules(in folders: [String]) async throws -> [KeptRule] {
        let all = try await found(in: folders).map(\.rule)
        let order = ["always", "project"]
        func rank(_ rule: KeptRule) -> Int { order.firstIndex(of: rule.scope) ?? order.count }
        return all.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }

    /// Takes back the one rule whose id begins so, of those that hold in these folders. Nil where there is none, or several.
    public func remove(ruleNamed prefix: String, in folders: [String]) async throws -> KeptRule? {
        let found = try await found(in: folders).filter { $0.rule.id.hasPrefix(prefix) }
        guard !prefix.isEmpty, let (keeper, rule) = found.first, found.allSatisfy({ $0.rule == rule }) else {
            return nil
        }
        try await keeper.remove(rule)
        return rule
    }

    /// Each once, however many of the folders it holds in.
    private func found(in folders: [String]) async throws -> [(keeper: any RuleKeeper, rule: KeptRule)] {
        var found: [(keeper: any RuleKeeper, rule: KeptRule)] = []
        var known: Set<KeptRule> = []
        for keeper in self {
            for folder in folders {
                for rule in try await keeper.keptRules(in: folder) where known.insert(rule).inserted {
                    found.append((keeper, rule))
                }
            }
        }
        return found
    }
}

/// A rule, and where it is kept.
public struct KeptRule: Sendable, Hashable {
    /// As whoever decides by it writes it.
    public let rule: JSON
    /// Where it is kept, in words for the person.
    public let place: String
    /// For how long it holds: `always`, `project`, or `conversation`.
    public let scope: String
    /// By which its keeper finds what it belongs to.
    public let owner: String

    public init(_ rule: JSON, in place: String, scope: String, owner: String = "") {
        self.rule = rule
        self.place = place
        self.scope = scope
        self.owner = owner
    }

    /// The name by which it is taken back: the same as long as the rule and its place are.
    public var id: String {
        // FNV-1a: it has to tell a few rules of one person apart, and nothing hangs on it.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(place)\0\(owner)\0\(rule.text())".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash & 0xffff_ffff, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
