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
