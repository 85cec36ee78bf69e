/// The members of a JSON object, in the order they were written.
///
/// Keys are compared byte by byte, as other programs do. Two objects are equal if they have equal members in any order.
public struct JSONObject: Sendable {
    struct Member: Sendable {
        let key: String
        var value: JSON
    }

    /// Up to this many members, a linear search is faster than a hash table.
    static let largestWithoutIndex = 16

    private(set) var members: [Member]
    private var index: [JSONName: Int]?

    /// An object without members.
    public init() {
        members = []
    }

    /// An object without members, with room for this many.
    package init(capacity: Int) {
        self.init()
        members.reserveCapacity(capacity)
    }

    /// An object of these members. If a key occurs twice, the last value counts.
    public init(_ members: [(String, JSON)]) {
        self.init()
        self.members.reserveCapacity(members.count)
        for (key, value) in members { self[key] = value }
    }

    /// Takes members whose keys are known to differ, with an index if there are many.
    init(distinct members: [Member], index: [JSONName: Int]?) {
        self.members = members
        self.index = index
    }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The keys, in order.
    public var keys: [String] { members.map(\.key) }

    /// The value of a key. Setting it replaces the old value or adds a member at the end; nil removes the member.
    public subscript(_ key: String) -> JSON? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil):
                members.remove(at: place)
                index = Self.makeIndex(of: members)
            case (nil, let value?): append(key, value)
            case (nil, nil): break
            }
        }
    }

    /// Adds a member at the end. The caller must know that the key is new.
    public mutating func append(_ key: String, _ value: JSON) {
        assert(position(of: key) == nil, "the key is already a member")
        members.append(Member(key: key, value: value))
        if index != nil {
            index?[JSONName(key)] = members.count - 1
        } else if members.count > Self.largestWithoutIndex {
            index = Self.makeIndex(of: members)
        }
    }

    private func position(of key: String) -> Int? {
        if let index { return index[JSONName(key)] }
        return members.firstIndex { $0.key.hasSameBytes(as: key) }
    }

    private static func makeIndex(of members: [Member]) -> [JSONName: Int]? {
        guard members.count > largestWithoutIndex else { return nil }
        var index = [JSONName: Int](minimumCapacity: members.count)
        for (place, member) in members.enumerated() { index[JSONName(member.key)] = place }
        return index
    }
}

extension JSONObject: Sequence {
    /// Iterates over the members in order.
    public struct Iterator: IteratorProtocol {
        var members: IndexingIterator<[Member]>

        /// The next member.
        public mutating func next() -> (key: String, value: JSON)? {
            members.next().map { ($0.key, $0.value) }
        }
    }

    /// An iterator that starts at the first member.
    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

    /// The number of members.
    public var underestimatedCount: Int { members.count }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        return left.members.allSatisfy { right[$0.key] == $0.value }
    }

    /// Hashes the members regardless of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members {
            var one = Hasher()
            one.combine(JSONName(member.key))
            one.combine(member.value)
            sum &+= one.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these members. If a key occurs twice, the last value counts.
    public init(dictionaryLiteral members: (String, JSON)...) { self.init(members) }
}

extension JSONObject: CustomStringConvertible {
    /// The object as compact JSON text.
    public var description: String { JSON.object(self).text() }
}

/// The name of a member, compared by its bytes. Swift's `String` treats "é" as one scalar and as two as equal, but in a
/// file they are different names.
struct JSONName: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: JSONName, right: JSONName) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both strings have the same UTF-8 bytes.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count, self == other else { return false }
        return utf8Span.isKnownASCII || utf8.elementsEqual(other.utf8)
    }
}
