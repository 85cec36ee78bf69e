import JSON

/// The tables of a document while it is read, with the rules about what may be defined where.
///
/// A table is known by its number, so that one can grow without the others being copied.
struct TOMLTree {
    /// How a table came about, which decides what may extend it.
    enum Origin {
        /// As the beginning of the path of a header: `a` by `[a.b]`. It may get a header itself.
        case implied
        /// By a header, which no other may repeat and no dotted key may extend.
        case header
        /// By a dotted key: `a` by `a.b = 1`.
        case dotted
    }

    private enum Node {
        case value(JSON)
        case table(Int)
        /// An array of tables, by its number.
        case tables(Int)
    }

    private struct Table {
        var origin: Origin
        let depth: Int
        /// By the bytes of their names, since texts that only look alike are different names.
        var members: [[UInt8]: Node] = [:]
        var order: [String] = []

        subscript(key: String) -> Node? { members[Array(key.utf8)] }
    }

    /// Why something cannot be defined.
    enum Conflict: Error {
        case repeated
        case isValue
        case isClosed
        case isList
        case tooDeep
    }

    private var tables = [Table(origin: .header, depth: 0)]
    private var lists: [[Int]] = []
    private let deepest: Int
    /// The tables that have a name, those of arrays included.
    private(set) var count = 0

    /// The number of the table of the document.
    static let root = 0

    init(deepest: Int) {
        self.deepest = deepest
    }

    func depth(of table: Int) -> Int { tables[table].depth }

    /// A table that belongs to no other: that of an inline table.
    mutating func makeTable(depth: Int) -> Int {
        tables.append(Table(origin: .dotted, depth: depth))
        return tables.count - 1
    }

    private mutating func add(_ origin: Origin, _ key: String, in table: Int) throws(Conflict) -> Int {
        let depth = tables[table].depth + 1
        guard depth <= deepest else { throw .tooDeep }
        count += 1
        tables.append(Table(origin: origin, depth: depth))
        put(.table(tables.count - 1), key, in: table)
        return tables.count - 1
    }

    private mutating func put(_ node: Node, _ key: String, in table: Int) {
        if tables[table].members.updateValue(node, forKey: Array(key.utf8)) == nil { tables[table].order.append(key) }
    }

    // MARK: Headers

    /// Opens the table of `[a.b.c]`.
    mutating func open(_ path: [String]) throws(Conflict) -> Int {
        let (parent, key) = try parent(of: path)
        switch tables[parent][key] {
        case nil: return try add(.header, key, in: parent)
        case .table(let table)? where tables[table].origin == .implied:
            tables[table].origin = .header
            return table
        case .table?: throw .repeated
        case .tables?: throw .isList
        case .value?: throw .isValue
        }
    }

    /// Adds a table by `[[a.b.c]]`.
    mutating func append(_ path: [String]) throws(Conflict) -> Int {
        let (parent, key) = try parent(of: path)
        let list: Int
        switch tables[parent][key] {
        case nil:
            lists.append([])
            list = lists.count - 1
            put(.tables(list), key, in: parent)
        case .tables(let known)?: list = known
        case .table?: throw .repeated
        case .value?: throw .isValue
        }
        let depth = tables[parent].depth + 2
        guard depth <= deepest else { throw .tooDeep }
        count += 1
        tables.append(Table(origin: .header, depth: depth))
        lists[list].append(tables.count - 1)
        return tables.count - 1
    }

    /// The table in which a header defines its last key. Of an array of tables it is the last one.
    private mutating func parent(of path: [String]) throws(Conflict) -> (table: Int, key: String) {
        var table = Self.root
        for key in path.dropLast() {
            switch tables[table][key] {
            case nil: table = try add(.implied, key, in: table)
            case .table(let next)?: table = next
            case .tables(let list)?: table = lists[list].last ?? table
            case .value?: throw .isValue
            }
        }
        return (table, path.last ?? "")
    }

    // MARK: Keys

    /// Defines a value by a key, which may be dotted.
    mutating func set(_ path: [String], in start: Int, to value: JSON) throws(Conflict) {
        var table = start
        for key in path.dropLast() {
            switch tables[table][key] {
            case nil: table = try add(.dotted, key, in: table)
            case .table(let next)? where tables[next].origin != .header:
                // No header may open it any more.
                tables[next].origin = .dotted
                table = next
            case .table?: throw .isClosed
            case .tables?: throw .isList
            case .value?: throw .isValue
            }
        }
        let key = path.last ?? ""
        guard tables[table][key] == nil else { throw .repeated }
        put(.value(value), key, in: table)
    }

    // MARK: The value

    /// A table as JSON. It is not deeper than the limit.
    func json(of table: Int) -> JSON {
        var object: JSONObject = [:]
        for key in tables[table].order {
            switch tables[table][key] {
            case .value(let value)?: object[key] = value
            case .table(let inner)?: object[key] = json(of: inner)
            case .tables(let list)?: object[key] = .array(lists[list].map { json(of: $0) })
            case nil: break
            }
        }
        return .object(object)
    }
}
