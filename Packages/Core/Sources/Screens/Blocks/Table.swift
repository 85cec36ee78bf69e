public import Capabilities
public import JSON

/// Rows with columns.
///
/// ```swift
/// Table(readings, id: "city", links: [.action("weather.forget", "Forget", key: "d", ["city": .row("city")])])
/// ```
public struct Table: BlockContent, Hashable {
    static let kind = "table"

    /// The rows themselves, or where they come from.
    public enum Rows: Sendable, Hashable {
        /// All rows.
        case all([JSONObject])
        /// A long list, of which the frontend asks for the rows that it shows.
        case source(RowSource)
    }

    /// The columns.
    public let columns: [Schema.Property]
    /// The rows.
    public let rows: Rows
    /// The names of the members that together identify a row.
    public let rowID: [String]
    /// What can be done with a row.
    public let rowLinks: [Link]
    /// The screen that is shown beside the selected row.
    public let detail: Link?
    /// What an empty table says.
    public let empty: String

    /// A table of any rows.
    public init(
        _ columns: [Schema.Property], _ rows: Rows, id rowID: [String], links rowLinks: [Link] = [],
        detail: Link? = nil,
        empty: String = "Nothing is here yet."
    ) {
        self.columns = columns
        self.rows = rows
        self.rowID = rowID
        self.rowLinks = rowLinks
        self.detail = detail
        self.empty = empty
    }

    /// A row for each record.
    public init<Row: Record>(
        _ rows: [Row], id rowID: String, links rowLinks: [Link] = [], detail: Link? = nil,
        empty: String = "Nothing is here yet."
    ) {
        self.init(
            Row.fields.map(\.property), .all(rows.map { $0.json.object ?? [:] }), id: [rowID], links: rowLinks,
            detail: detail,
            empty: empty)
    }

    /// The same table with another text for when it is empty.
    public func saying(_ empty: String) -> Table {
        Table(columns, rows, id: rowID, links: rowLinks, detail: detail, empty: empty)
    }

    /// The most that the rows of a list may be, so that there is room for what stands beside it.
    private static let most = BlockSize(nodes: 5_000, bytes: 900_000)

    /// The same table with as many of its first rows as a screen can show, and how many are left out.
    public func fitting() -> (table: Table, omitted: Int) {
        guard case .all(let rows) = rows else { return (self, 0) }
        var bytes = 0
        let shown = rows.prefix(Self.most.nodes).prefix { row in
            bytes += row.textSize
            return bytes <= Self.most.bytes
        }
        guard shown.count < rows.count else { return (self, 0) }
        let table = Table(columns, .all(Array(shown)), id: rowID, links: rowLinks, detail: detail, empty: empty)
        return (table, rows.count - shown.count)
    }

    /// The id of a row.
    public func id(of row: JSONObject) -> String {
        rowID.map { name in row[name].map { $0.string ?? $0.text() } ?? "" }.joined(separator: " ")
    }

    public static let fields: [Field<Table>] = [
        Field("columns", "The columns") { $0.columns.map(Column.init) },
        Field("row_id", "The members that together identify a row") { $0.rowID },
        Field("rows", "The rows; absent if the frontend asks a source for them") { table -> [JSON]? in
            if case .all(let rows) = table.rows { rows.map { .object($0) } } else { nil }
        },
        Field("row_links", "What can be done with a row") { $0.rowLinks },
        Field("detail", "The screen that is shown beside the selected row") { $0.detail },
        Field("empty", "What an empty table says") { $0.empty },
    ]

    var size: BlockSize {
        let frame = columns.textSize + (rowLinks + [detail].compactMap { $0 }).textSize + empty.utf8.count
        guard case .all(let rows) = rows else { return BlockSize(bytes: frame) }
        return BlockSize(nodes: rows.count, bytes: rows.reduce(frame) { $0 + $1.textSize })
    }
}

/// Where the rows of a long list come from. Asked by range, search and order, so that only what is seen is read.
public final class RowSource: Sendable {
    /// What a frontend asks for.
    public struct Request: Sendable, Hashable {
        /// Only rows that contain this text; nil for all.
        public var search: String?
        /// The column to sort by; nil for the source's own order.
        public var sort: String?
        /// Whether the order is reversed.
        public var isDescending = false
        /// The id of the row that the range is counted from; nil for the first.
        public var anchor: String?
        /// The first row to return, counted from the anchor; negative for rows before it.
        public var offset = 0
        /// How many rows to return.
        public var count: Int

        /// The first rows.
        public init(count: Int) { self.count = count }
    }

    /// A part of the list.
    public struct Page: Sendable, Hashable {
        /// The rows in order.
        public let rows: [JSONObject]
        /// Whether there are rows before and after these.
        public let hasPrevious, hasNext: Bool
        /// How many rows there are in all; nil if that is not known.
        public let total: Int?

        /// By default it is the whole list.
        public init(_ rows: [JSONObject], hasPrevious: Bool = false, hasNext: Bool = false, total: Int? = nil) {
            self.rows = rows
            self.hasPrevious = hasPrevious
            self.hasNext = hasNext
            self.total = total
        }
    }

    private let read: @Sendable (Request) async throws -> Page
    /// The caller of the screen, whose body makes the source. Whoever shows the screen may have other rights.
    private let caller = Caller.current

    /// - Parameter read: returns the rows that were asked for. It runs with the rights of the caller for whom the source
    ///   is made.
    public init(_ read: @escaping @Sendable (Request) async throws -> Page) { self.read = read }

    /// Some of the rows.
    public func rows(_ request: Request) async throws -> Page {
        // A source that was made outside of a screen has the rights of whoever asks.
        try await Caller.$current.withValue(caller ?? Caller.current) { try await read(request) }
    }
}

extension RowSource: Hashable {
    public static func == (left: RowSource, right: RowSource) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A tree of nodes.
public struct Tree: BlockContent, Hashable {
    static let kind = "tree"

    /// A node with those below it.
    public struct Node: Sendable, Hashable {
        /// The id, unique in the tree.
        public let id: String
        /// What it says.
        public let label: RichText
        /// Its state in a word, such as `running`; nil for none.
        public let state: String?
        /// The nodes below it.
        public let children: [Node]

        /// By default it has no state, and nothing is below it.
        public init(_ id: String, _ label: RichText, state: String? = nil, _ children: [Node] = []) {
            self.id = id
            self.label = label
            self.state = state
            self.children = children
        }
    }

    /// The topmost nodes.
    public let nodes: [Node]
    /// What can be done with a node. Its id is the member `id` of the row.
    public let nodeLinks: [Link]
    /// The screen that is shown beside the selected node.
    public let detail: Link?

    /// By default nothing can be done with the nodes.
    public init(_ nodes: [Node], links nodeLinks: [Link] = [], detail: Link? = nil) {
        self.nodes = nodes
        self.nodeLinks = nodeLinks
        self.detail = detail
    }

    public static let fields: [Field<Tree>] = [
        Field(
            Schema.Property("nodes", "The topmost nodes: id, label, state and children, which are nodes", .array(.any))
        ) { $0.nodes.json },
        Field("node_links", "What can be done with a node") { $0.nodeLinks },
        Field("detail", "The screen that is shown beside the selected node") { $0.detail },
    ]

    var size: BlockSize {
        let links = (nodeLinks + [detail].compactMap { $0 }).textSize
        return nodes.reduce(into: BlockSize(bytes: links)) { $0 += $1.size }
    }

    var allIDs: [String] { nodes.flatMap(\.allIDs) }
}

extension Tree.Node: OutputValue {
    public static var schema: Schema { .any }
    public var json: JSON {
        var object: JSONObject = ["id": .string(id), "label": label.json]
        if let state { object.append("state", .string(state)) }
        if !children.isEmpty { object.append("children", children.json) }
        return .object(object)
    }

    fileprivate var allIDs: [String] { [id] + children.flatMap(\.allIDs) }

    fileprivate var size: BlockSize {
        var size = BlockSize(
            nodes: 1, bytes: id.utf8.count + label.plain.utf8.count + (state?.utf8.count ?? 0))
        for child in children { size += child.size }
        return size
    }
}
