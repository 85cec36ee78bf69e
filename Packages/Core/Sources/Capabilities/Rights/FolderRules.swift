public import JSON

/// What the person has agreed to for folders in which models work: how far these go unasked, and rules about their tools.
/// The host provides it, and features read and write the same record, whoever of them asked.
///
/// A record is for one folder, by its canonical path, device and inode. A folder that has taken the place of another has
/// nothing of what was allowed there; what was denied stays denied.
public protocol FolderRules: AnyObject, Sendable {
    /// What holds in a folder, which is empty where nothing was decided. Throws where that cannot be read or the folder
    /// cannot be looked at, and nothing may be allowed there then.
    func record(of folder: String) throws -> FolderRecord
    /// Changes what holds in a folder, in one step in which nobody else changes it. What is empty then is forgotten.
    ///
    /// - Returns: what holds now.
    @discardableResult
    func change(_ folder: String, _ edit: @Sendable (inout FolderRecord) -> Void) async throws -> FolderRecord
}

/// What the person has agreed to for one folder.
public struct FolderRecord: Sendable, Hashable {
    /// The folder's canonical path.
    public let path: String
    /// How far models may go there as far as the settings say so; nil where nobody was asked.
    public var mode: ToolMode?
    /// Rules about tools, as whoever decides by them writes them. They may be older than that reads them.
    public var rules: [JSON]
    /// Whether something was decided for another folder that was at this path before.
    public let isReplaced: Bool

    public init(path: String, mode: ToolMode? = nil, rules: [JSON] = [], isReplaced: Bool = false) {
        self.path = path
        self.mode = mode
        self.rules = rules
        self.isReplaced = isReplaced
    }

    public var isEmpty: Bool { mode == nil && rules.isEmpty }
}

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

/// The files of projects that the person has read and agreed to, each with the content that it had then.
public protocol TrustedFiles: AnyObject, Sendable {
    /// Whether the person agreed to exactly this content of the file at this path.
    func trusts(_ path: String, content: [UInt8]) -> Bool
}

/// Knows what a project's file brings along, so that whoever trusts the file is shown all of it.
public protocol CompanionFiles: AnyObject, Sendable {
    /// The other files that this one makes use of, at any depth, with what is in them.
    ///
    /// - Parameter folder: the project's, outside of which nothing is brought along.
    func companions(of path: String, content: [UInt8], in folder: String) -> [(path: String, content: [UInt8])]
}
