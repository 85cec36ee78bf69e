import JSON
import PatternKit

/// A compiled schema: a node for each subschema. Nodes and rules refer to each other by their index; -1 stands for none.
final class Program: Sendable {
    let nodes: [Node]
    let choices: [Choices]
    let numbers: [NumberRules]
    let texts: [TextRules]
    let lists: [ListRules]
    let members: [MemberRules]
    let combinations: [Combination]
    let patterns: [SchemaPattern]
    let gaps: [JSONSchema.Gap]
    /// Whether the resources that a check has entered decide where a dynamic reference leads.
    let needsScope: Bool
    private let places: [SchemaPlace]

    init(
        nodes: [Node], choices: [Choices], numbers: [NumberRules], texts: [TextRules], lists: [ListRules],
        members: [MemberRules], combinations: [Combination], patterns: [SchemaPattern], gaps: [JSONSchema.Gap],
        places: [SchemaPlace], needsScope: Bool
    ) {
        self.nodes = nodes
        self.choices = choices
        self.numbers = numbers
        self.texts = texts
        self.lists = lists
        self.members = members
        self.combinations = combinations
        self.patterns = patterns
        self.gaps = gaps
        self.places = places
        self.needsScope = needsScope
    }

    /// The JSON pointer of a keyword of a subschema.
    func pointer(_ node: Node, _ keyword: String) -> String {
        SchemaPlace.pointer(to: Int(node.place), in: places) + "/" + keyword
    }

    /// The types that a subschema and those it refers to accept.
    func kinds(of id: Int32) -> Kinds {
        var (kinds, id) = (Kinds.all, id)
        for _ in 0..<8 {
            let node = nodes[Int(id)]
            kinds.formIntersection(node.kinds)
            guard node.combination >= 0 else { break }
            id = combinations[Int(node.combination)].reference
            if id < 0 { break }
        }
        return kinds
    }

    /// The JSON pointer of a subschema.
    func pointer(_ node: Node) -> String {
        SchemaPlace.pointer(to: Int(node.place), in: places)
    }
}

/// A part of the schema document, below another one.
struct SchemaPlace: Sendable {
    let parent: Int
    let name: String

    /// The JSON pointer of a place; the root is the first one.
    static func pointer(to place: Int, in places: [SchemaPlace]) -> String {
        var names: [String] = []
        var place = place
        while place > 0 {
            names.append(places[place].name)
            place = places[place].parent
        }
        return names.reversed().map { "/" + Pointer.escape($0) }.joined()
    }
}

/// A subschema.
struct Node: Sendable {
    let place: Int32
    /// The part of the document with an identifier of its own that the subschema belongs to.
    let resource: Int32
    var kinds: Kinds
    /// Whether the types say everything.
    var isPlain = true
    var choice: Int32 = -1
    var constant: Int32 = -1
    var number: Int32 = -1
    var text: Int32 = -1
    var list: Int32 = -1
    var members: Int32 = -1
    var combination: Int32 = -1
}

/// The keywords for numbers.
struct NumberRules: Sendable {
    var minimum: JSON?
    var maximum: JSON?
    var exclusiveMinimum: JSON?
    var exclusiveMaximum: JSON?
    var divisor: Divisor?
    /// Set if the divisor is too large to be checked.
    var gap: Int32 = -1
}

/// The keywords for strings.
struct TextRules: Sendable {
    var least = 0
    var most = Int.max
    var pattern: Int32 = -1
    /// Set if the format or the pattern is not checked.
    var formatGap: Int32 = -1
    var patternGap: Int32 = -1
}

/// The keywords for arrays.
final class ListRules: Sendable {
    let least: Int
    let most: Int
    let isUnique: Bool
    /// The nodes of the first elements.
    let first: [Int32]
    /// The node of all elements after them.
    let rest: Int32
    let contained: Int32
    let leastContained: Int
    let mostContained: Int
    /// The names of the keywords in this schema.
    let restKeyword: String

    init(
        least: Int, most: Int, isUnique: Bool, first: [Int32], rest: Int32, contained: Int32, leastContained: Int,
        mostContained: Int, restKeyword: String
    ) {
        self.least = least
        self.most = most
        self.isUnique = isUnique
        self.first = first
        self.rest = rest
        self.contained = contained
        self.leastContained = leastContained
        self.mostContained = mostContained
        self.restKeyword = restKeyword
    }
}

/// The keywords for objects.
final class MemberRules: Sendable {
    let names: NameTable
    /// For each name the node of its value, or -1 if the name is only required.
    let nodes: [Int32]
    /// The indexes of the names that must be there.
    let required: [Int]
    let requiredBits: UInt64
    let patterns: [(pattern: Int32, gap: Int32, node: Int32)]
    let additional: Int32
    let naming: Int32
    let least: Int
    let most: Int
    let dependent: [(name: String, needed: [String])]
    let dependentKeyword: String

    init(
        names: [String], nodes: [Int32], required: [Int], patterns: [(pattern: Int32, gap: Int32, node: Int32)],
        additional: Int32, naming: Int32, least: Int, most: Int, dependent: [(name: String, needed: [String])],
        dependentKeyword: String
    ) {
        self.names = NameTable(names)
        self.nodes = nodes
        self.required = required
        requiredBits = required.reduce(0) { $1 < 64 ? $0 | 1 << UInt64($1) : $0 }
        self.patterns = patterns
        self.additional = additional
        self.naming = naming
        self.least = least
        self.most = most
        self.dependent = dependent
        self.dependentKeyword = dependentKeyword
    }
}

/// The keywords that apply other subschemas to the same value.
final class Combination: Sendable {
    let reference: Int32
    let dynamic: DynamicReference?
    /// References that lead out of the document.
    let gap: Int32
    let all: [Int32]
    let any: [Int32]
    let one: [Int32]
    let not: Int32
    let condition: Int32
    let then: Int32
    let otherwise: Int32
    let dependent: [(name: String, node: Int32)]
    let otherElements: Int32
    let otherMembers: Int32

    init(
        reference: Int32, dynamic: DynamicReference?, gap: Int32, all: [Int32], any: [Int32], one: [Int32], not: Int32,
        condition: Int32, then: Int32, otherwise: Int32, dependent: [(name: String, node: Int32)],
        otherElements: Int32, otherMembers: Int32
    ) {
        self.reference = reference
        self.dynamic = dynamic
        self.gap = gap
        self.all = all
        self.any = any
        self.one = one
        self.not = not
        self.condition = condition
        self.then = then
        self.otherwise = otherwise
        self.dependent = dependent
        self.otherElements = otherElements
        self.otherMembers = otherMembers
    }

    /// Whether the node needs to know which parts of the value others have looked at.
    var needsEvaluated: Bool { otherElements >= 0 || otherMembers >= 0 }
}

/// A reference whose target depends on the resources that the check has entered.
struct DynamicReference: Sendable {
    /// The target if no resource has another one.
    let target: Int32
    /// The nodes with the anchor, by their resource.
    let anchors: [(resource: Int32, node: Int32)]
}

/// The values of `enum` or `const`.
struct Choices: Sendable {
    let values: [JSON]
    private let kinds: Kinds
    private let lookup: Set<ExactKey>

    /// Up to this many values, comparing all is faster than a lookup.
    private static let fewest = 8

    init(_ values: [JSON]) {
        self.values = values
        kinds = values.reduce([]) { $0.union(Kinds(of: $1)) }
        lookup = values.count > Self.fewest ? Set(values.map(ExactKey.init)) : []
    }

    /// Whether the value is one of them.
    func contains(_ value: JSON, _ kinds: Kinds, cost: inout Int) -> Bool {
        if self.kinds.isDisjoint(with: kinds) { return false }
        if lookup.isEmpty { return values.contains { ExactValue.areEqual($0, value, cost: &cost) } }
        // Hashing an array or an object takes as long as it is large.
        var hasher = Hasher()
        if value.array != nil || value.object != nil { ExactValue.hash(value, into: &hasher, cost: &cost) }
        return lookup.contains(ExactKey(value: value))
    }
}

/// The names of members that a schema knows, each with its index.
struct NameTable: Sendable {
    let names: [String]
    private let lookup: [ByteName: Int]

    /// Up to this many names, comparing all is faster than a lookup.
    private static let fewest = 12

    init(_ names: [String]) {
        self.names = names
        var lookup: [ByteName: Int] = [:]
        if names.count > Self.fewest {
            for (index, name) in names.enumerated() { lookup[ByteName(name)] = index }
        }
        self.lookup = lookup
    }

    /// The index of a name.
    @inline(__always)
    func index(of name: String) -> Int? {
        if names.count > Self.fewest { return lookup[ByteName(name)] }
        for index in names.indices where names[index].hasSameBytes(as: name) { return index }
        return nil
    }
}
