/// Gives the sources of tools that depend on where a model works, such as the servers of a project. Sources that are
/// always the same are offered as `ToolSource`.
public protocol ToolCatalog: AnyObject, Sendable {
    /// The sources that are available there at this moment, in the order of their names. A source that does not work is
    /// among them, and says so when it is asked for its tools.
    ///
    /// - Parameter tell: receives what the person should know, such as that a source was left out.
    /// - Throws: what the person must decide or repair before a model can work there.
    func sources(at place: ToolPlace, telling tell: @escaping @Sendable (String) -> Void) async throws
        -> [any ToolSource]
    /// Raised when the sources or their tools may have changed.
    var changes: Signal { get }
}

/// Where a model works, and for whom.
public struct ToolPlace: Sendable, Hashable {
    /// The folder that it works in; nil if it has none.
    public var folder: String?
    /// The conversation or session; nil if it is not stored yet.
    public var conversation: String?
    /// Whether the answer is waited for until everything is known, because no later turn would see the rest.
    public var isLastTurn: Bool

    /// By default there are later turns.
    public init(folder: String?, conversation: String? = nil, isLastTurn: Bool = false) {
        self.folder = folder
        self.conversation = conversation
        self.isLastTurn = isLastTurn
    }
}
