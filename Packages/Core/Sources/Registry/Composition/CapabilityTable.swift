/// Capabilities by the identity of their protocols.
///
/// A dictionary would hash with a seed, against keys that somebody chose to collide. These keys are addresses of our
/// own metadata and never change, so the address itself is hash enough, and a lookup stays below a dictionary's cost.
@usableFromInline
struct CapabilityTable: Sendable {
    /// A power of two of places, at least half of them free, so that every search ends. The slots stand apart, so that
    /// passing a key by counts no reference.
    @usableFromInline let keys: [ObjectIdentifier?]
    @usableFromInline let slots: [CapabilitySlot?]

    init(_ contents: [ObjectIdentifier: CapabilitySlot]) {
        var size = 4
        while size < contents.count * 2 + 1 { size *= 2 }
        var keys: [ObjectIdentifier?] = Array(repeating: nil, count: size)
        var slots: [CapabilitySlot?] = Array(repeating: nil, count: size)
        for (id, slot) in contents {
            var place = Self.place(id, size)
            while keys[place] != nil { place = (place + 1) & (size - 1) }
            keys[place] = id
            slots[place] = slot
        }
        self.keys = keys
        self.slots = slots
    }

    @inlinable @inline(__always)
    subscript(id: ObjectIdentifier) -> CapabilitySlot? {
        var place = Self.place(id, keys.count)
        while let key = keys[place] {
            if key == id { return slots[place] }
            place = (place + 1) & (keys.count - 1)
        }
        return nil
    }

    @inlinable @inline(__always)
    static func place(_ id: ObjectIdentifier, _ size: Int) -> Int {
        // Metadata is aligned, so the lowest bits say nothing.
        Int(bitPattern: UInt(bitPattern: id) >> 4) & (size - 1)
    }
}
