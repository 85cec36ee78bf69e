public import Capabilities

/// Which conversations, or messages of which, are wanted. What is nil does not matter.
public struct HistoryFilter: Sendable, Hashable {
    public var provider: String?
    public var model: String?
    public var server: String?
    /// From this moment on, and before that one.
    public var since: Timestamp?
    public var until: Timestamp?
    /// Words of the title or of a message, as in a search.
    public var text: String?
    /// Those that were deleted instead of the others.
    public var isDeleted = false

    public init(
        provider: String? = nil, model: String? = nil, server: String? = nil, since: Timestamp? = nil,
        until: Timestamp? = nil, text: String? = nil, isDeleted: Bool = false
    ) {
        self.provider = provider
        self.model = model
        self.server = server
        self.since = since
        self.until = until
        self.text = text
        self.isDeleted = isDeleted
    }
}

/// Some of a list, and where it goes on.
public struct Page: Sendable, Hashable {
    public let items: [Conversation]
    /// Nil where nothing follows.
    public let next: ListCursor?
}

/// A place in the list of conversations, which stays right while others are written.
public struct ListCursor: Sendable, Hashable {
    let updated: Timestamp
    let row: Int64
}
