public import Capabilities
public import JSON
import StorageKit

extension History {
    /// Messages that contain the words, most recently stored first.
    ///
    /// All words must occur; `"several words"` in this order, `-word` not at all, `wor*` as a prefix. The text of the
    /// filter is not used. `before` is the last message of the previous page.
    ///
    /// A message that forks share is found once: in the conversation that wrote it, or in the newest fork while that
    /// one is deleted.
    public func search(
        _ typed: String, _ filter: HistoryFilter = HistoryFilter(), before: MessageID? = nil, limit: Int = 20
    ) async throws -> [SearchHit] {
        guard let query = SearchQuery(typed) else { return [] }
        return try await database.read { connection in
            try connection.all(
                Self.head + (filter.isDeleted ? Self.deletedPlace : Self.livingPlace) + Self.tail,
                query.text, before?.rawValue ?? Int64.max, filter.provider, filter.model, filter.server, filter.since,
                filter.until, Snippet.marks.open, Snippet.marks.close, "…", max(1, limit)
            ) { row in
                SearchHit(
                    conversation: try row[0], title: try row[1], message: try row[2],
                    role: Message.Role(rawValue: try row[3]) ?? .user, time: try row[4], model: try row[5],
                    snippet: Snippet(marked: try row[6]))
            }
        }
    }

    /// The order of the joins makes SQLite walk the index from its newest row until there are enough matches.
    private static let head: SQL = """
        SELECT c.name, c.title, m.id, m.role, m.time, coalesce(m.model, c.model),
            snippet(messages_text, 0, ?8, ?9, ?10, 16)
        FROM messages_text CROSS JOIN messages m ON m.id = messages_text.rowid CROSS JOIN conversations c ON

        """

    private static let deletedPlace: SQL = "c.id = m.conversation AND c.deleted IS NOT NULL"

    /// The paths of forks are only walked if the writer is deleted.
    private static let livingPlace: SQL = """
        c.id = coalesce(
            (SELECT id FROM conversations WHERE id = m.conversation AND deleted IS NULL),
            (WITH RECURSIVE path (fork, id) AS (
                SELECT id, head FROM conversations WHERE tree = m.tree AND deleted IS NULL
                UNION ALL SELECT path.fork, p.parent FROM path JOIN messages p ON p.id = path.id
                    WHERE p.parent IS NOT NULL AND p.position > m.position)
            SELECT max(fork) FROM path WHERE id = m.id))
        """

    private static let tail: SQL = """
         WHERE messages_text MATCH ?1 AND messages_text.rowid < ?2
            AND (?3 IS NULL OR coalesce(m.provider, c.provider) = ?3)
            AND (?4 IS NULL OR coalesce(m.model, c.model) = ?4) AND (?5 IS NULL OR c.server = ?5)
            AND (?6 IS NULL OR m.time >= ?6) AND (?7 IS NULL OR m.time < ?7)
        ORDER BY messages_text.rowid DESC LIMIT ?11
        """
}

/// A message that contains the words.
public struct SearchHit: Record, Hashable {
    /// The conversation in which it was found.
    public let conversation: ConversationID
    /// The title of that conversation.
    public let title: String
    /// The message that contains the words.
    public let message: MessageID
    /// The author of the message.
    public let role: Message.Role
    /// When the message was sent.
    public let time: Timestamp
    /// The model that wrote the message, or else that of the conversation; nil if neither is known.
    public let model: String?
    /// The words with the text around them.
    public let snippet: Snippet

    public static let fields: [Field<SearchHit>] = [
        Field("conversation", "Id of the conversation", .name) { $0.conversation },
        Field("title", "Title of the conversation") { $0.title },
        Field("time", "When the message was sent") { $0.time },
        Field("role", "Role of the author") { $0.role },
        Field("text", "The words with their context") { $0.snippet },
        Field("message", "Id of the message", .detail) { $0.message },
        Field("model", "The model", .detail) { $0.model },
    ]
}

/// A piece of text with marked matches.
public struct Snippet: Sendable, Hashable, OutputValue {
    /// A part of the text that is a match as a whole, or contains none.
    public struct Run: Sendable, Hashable {
        /// The text of the part; never empty.
        public let text: String
        /// Whether the words of the search match here.
        public let isMatch: Bool
    }

    /// The parts in order. Together they are the whole text.
    public let runs: [Run]

    /// The text alone.
    public var plain: String { runs.map(\.text).joined() }

    /// The text with something before and after each match.
    public func marked(_ before: String, _ after: String) -> String {
        runs.map { $0.isMatch ? before + $0.text + after : $0.text }.joined()
    }

    public var json: JSON { .string(plain) }
    public static var schema: Schema { .string }

    /// Two private-use code points, which do not occur in ordinary texts.
    static let marks = (open: "\u{10F8E0}", close: "\u{10F8E1}")

    init(marked text: String) {
        var runs: [Run] = []
        var current = String.UnicodeScalarView()
        var isMatch = false
        func finish(_ next: Bool) {
            if !current.isEmpty { runs.append(Run(text: String(current), isMatch: isMatch)) }
            current = String.UnicodeScalarView()
            isMatch = next
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{10F8E0}": finish(true)
            case "\u{10F8E1}": finish(false)
            default: current.append(scalar)
            }
        }
        finish(false)
        self.runs = runs
    }
}

extension History {
    /// Conversations, most recently changed first; `after` is the `next` of the previous page.
    public func list(
        _ filter: HistoryFilter = HistoryFilter(), after cursor: ListCursor? = nil, limit: Int = 50
    ) async throws -> Page {
        let limit = max(1, limit)
        let words = filter.text.flatMap(SearchQuery.init)?.text
        let rows = try await database.read { connection in
            try connection.all(
                Self.listQuery(filter, hasWords: words != nil), cursor?.updated, cursor?.row, filter.provider,
                filter.model, filter.server, filter.since, filter.until, limit + 1,
                filter.text.map(SearchQuery.pattern), words
            ) { row in try Connection.conversation(row) }
        }
        let items = rows.prefix(limit)
        let next =
            rows.count > limit ? items.last.map { ListCursor(updated: $0.conversation.updated, row: $0.row) } : nil
        return Page(items: items.map(\.conversation), next: next)
    }

    private static func listQuery(_ filter: HistoryFilter, hasWords: Bool) -> SQL {
        let state: SQL = filter.isDeleted ? "WHERE c.deleted IS NOT NULL" : "WHERE c.deleted IS NULL"
        let text: SQL =
            switch (filter.text != nil, hasWords) {
            // Every numbered parameter must occur in the text, used or not.
            case (false, _): " AND ?9 IS NULL AND ?10 IS NULL"
            case (true, false): " AND c.title LIKE ?9 ESCAPE '\\' AND ?10 IS NULL"
            case (true, true):
                """
                 AND (c.title LIKE ?9 ESCAPE '\\' OR c.id IN (
                    SELECT m.conversation FROM messages_text t CROSS JOIN messages m ON m.id = t.rowid
                    WHERE messages_text MATCH ?10))
                """
            }
        return Connection.conversationColumns + state + """
             AND (?1 IS NULL OR (c.updated, c.id) < (?1, ?2)) AND (?3 IS NULL OR c.provider = ?3)
            AND (?4 IS NULL OR c.model = ?4) AND (?5 IS NULL OR c.server = ?5)
            AND (?6 IS NULL OR c.updated >= ?6) AND (?7 IS NULL OR c.updated < ?7)
            """ + text + " ORDER BY c.updated DESC, c.id DESC LIMIT ?8"
    }
}

/// Selects conversations or messages. Nil members do not filter.
public struct HistoryFilter: Sendable, Hashable {
    /// The id of the provider that answers.
    public var provider: String?
    /// The model's id at its provider.
    public var model: String?
    /// The address of the server, as the setup has it.
    public var server: String?
    /// From this time on.
    public var since: Timestamp?
    /// Before this time.
    public var until: Timestamp?
    /// Words of the title or of a message, as in a search.
    public var text: String?
    /// Deleted ones instead of the others.
    public var isDeleted = false

    /// Without arguments it selects everything that is not deleted.
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

/// A part of a list, with the position where it continues.
public struct Page: Sendable, Hashable {
    /// The conversations of this part, most recently changed first.
    public let items: [Conversation]
    /// Nil at the end.
    public let next: ListCursor?
}

/// A position in the list of conversations that stays valid while others are written.
public struct ListCursor: Sendable, Hashable {
    let updated: Timestamp
    let row: Int64
}
