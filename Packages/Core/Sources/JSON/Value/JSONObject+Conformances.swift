extension JSONObject: Sequence {
    /// Walks along the members in order.
    public struct Iterator: IteratorProtocol {
        var members: IndexingIterator<[Member]>

        /// The next member.
        public mutating func next() -> (key: String, value: JSON)? {
            members.next().map { ($0.key, $0.value) }
        }
    }

    /// Starts at the first member.
    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

    /// How many members there are.
    public var underestimatedCount: Int { members.count }
}

extension JSONObject: Hashable {
    /// Whether both hold the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        return left.members.allSatisfy { right[$0.key] == $0.value }
    }

    /// Adds the members without regard to their order.
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
    /// An object of these members; of two equal keys the last value counts.
    public init(dictionaryLiteral members: (String, JSON)...) { self.init(members) }
}

extension JSONObject: CustomStringConvertible {
    /// The compact text of the object.
    public var description: String { JSON.object(self).text() }
}
