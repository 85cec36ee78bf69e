public import JSON

/// What the person has agreed to for folders in which models work: how far models may go without asking, rules about
/// their tools, and servers of tools that come with the folder. The host provides it, and all features share the same record.
///
/// A record belongs to one folder, by its canonical path, device and inode. A folder that replaces another gets none of
/// the permissions of the old one, but what was denied stays denied.
public protocol FolderRules: AnyObject, Sendable {
    /// The record of a folder; empty if nothing was decided. Throws if the record or the folder cannot be read; nothing
    /// may be allowed then.
    func record(of folder: String) throws -> FolderRecord
    /// Changes the record of a folder atomically. An empty record is removed.
    ///
    /// - Returns: the record after the change.
    @discardableResult
    func change(_ folder: String, _ edit: @Sendable (inout FolderRecord) -> Void) async throws -> FolderRecord
}

/// What the person has agreed to for one folder.
public struct FolderRecord: Sendable, Hashable {
    /// The folder's canonical path.
    public let path: String
    /// How far models may go there, within the limits of the settings; nil if nobody was asked.
    public var mode: ToolMode?
    /// Rules about tools, in the form of the code that evaluates them. They may have been written by an older version.
    public var rules: [JSON]
    /// The servers that come with the folder and may be started or asked, each by a digest of everything that the person
    /// saw of it.
    public var servers: Set<String>
    /// Whether decisions were made for another folder that was at this path before.
    public let isReplaced: Bool

    /// By default nothing is decided for the folder.
    public init(
        path: String, mode: ToolMode? = nil, rules: [JSON] = [], servers: Set<String> = [], isReplaced: Bool = false
    ) {
        self.path = path
        self.mode = mode
        self.rules = rules
        self.servers = servers
        self.isReplaced = isReplaced
    }

    /// Whether nothing is decided, so that there is nothing to store.
    public var isEmpty: Bool { mode == nil && rules.isEmpty && servers.isEmpty }
}

/// Stores rules about what models may do without asking. All keepers together list every rule, wherever it is stored,
/// and can remove it.
public protocol RuleKeeper: AnyObject, Sendable {
    /// The rules that apply everywhere and those of a folder. Throws if they cannot be read.
    func keptRules(in folder: String) async throws -> [KeptRule]
    /// Removes a rule that it has listed. It is not an error if the rule is already gone.
    func remove(_ rule: KeptRule) async throws
}

extension [any RuleKeeper] {
    /// All rules that apply in these folders: permanent rules first, then rules of a folder, then rules of a
    /// conversation.
    public func keptRules(in folders: [String]) async throws -> [KeptRule] {
        let all = try await found(in: folders).map(\.rule)
        let order = ["always", "project"]
        func rank(_ rule: KeptRule) -> Int { order.firstIndex(of: rule.scope) ?? order.count }
        return all.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }

    /// Removes the rule whose id begins with a prefix. Nil if there is none, or more than one.
    public func remove(ruleNamed prefix: String, in folders: [String]) async throws -> KeptRule? {
        let found = try await found(in: folders).filter { $0.rule.id.hasPrefix(prefix) }
        guard !prefix.isEmpty, let (keeper, rule) = found.first, found.allSatisfy({ $0.rule == rule }) else {
            return nil
        }
        try await keeper.remove(rule)
        return rule
    }

    /// Each rule once, even if it applies in several of the folders.
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

/// A rule, with the place where it is stored.
public struct KeptRule: Sendable, Hashable {
    /// The rule in the form of the code that evaluates it.
    public let rule: JSON
    /// Where it is stored, in words for the person.
    public let place: String
    /// How long it applies: `always`, `project`, or `conversation`.
    public let scope: String
    /// Lets its keeper find what the rule belongs to.
    public let owner: String

    /// The keeper chooses the owner; it is empty if the place is enough to find the rule.
    public init(_ rule: JSON, in place: String, scope: String, owner: String = "") {
        self.rule = rule
        self.place = place
        self.scope = scope
        self.owner = owner
    }

    /// The id for removing the rule. It stays the same as long as the rule and its place do.
    public var id: String {
        // FNV-1a is enough to distinguish a few rules of one person; nothing depends on its strength.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(place)\0\(owner)\0\(rule.text())".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Hexadecimal.digits(of: hash & 0xffff_ffff, count: 8)
    }
}

/// The project files that the person has read and trusts, each with the content it had then.
public protocol TrustedFiles: AnyObject, Sendable {
    /// Whether the person trusts exactly this content of the file at this path.
    func trusts(_ path: String, content: [UInt8]) -> Bool
}

/// Knows which other files a project's file uses, so that whoever trusts the file is shown all of them.
public protocol CompanionFiles: AnyObject, Sendable {
    /// The other files that this one uses, at any depth, with their content.
    ///
    /// - Parameter folder: the project's folder; files outside it are left out.
    func companions(of path: String, content: [UInt8], in folder: String) -> [(path: String, content: [UInt8])]
}
