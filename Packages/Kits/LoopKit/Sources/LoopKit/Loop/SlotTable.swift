/// The registrations of a loop, each under a token that is never given twice.
///
/// A token is the number of a slot and how often that slot was given away, so that a late event for a descriptor that
/// is closed finds nobody, although descriptor and slot may have new owners.
struct SlotTable {
    private struct Slot {
        var registration: Registration?
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    subscript(token: UInt64) -> Registration? {
        let index = Int(UInt32(truncatingIfNeeded: token))
        guard index < slots.count, slots[index].generation == token >> 32 else { return nil }
        return slots[index].registration
    }

    mutating func reserve() -> UInt64 {
        if let index = free.popLast() { return UInt64(slots[Int(index)].generation) << 32 | UInt64(index) }
        slots.append(Slot())
        return UInt64(slots.count - 1)
    }

    mutating func fill(_ token: UInt64, _ registration: Registration) {
        slots[Int(UInt32(truncatingIfNeeded: token))].registration = registration
    }

    mutating func release(_ token: UInt64) {
        let index = UInt32(truncatingIfNeeded: token)
        guard Int(index) < slots.count, slots[Int(index)].generation == token >> 32 else { return }
        slots[Int(index)].registration = nil
        slots[Int(index)].generation &+= 1
        free.append(index)
    }

    mutating func takeAll() -> [Registration] {
        defer { (slots, free) = ([], []) }
        return slots.compactMap(\.registration)
    }
}
