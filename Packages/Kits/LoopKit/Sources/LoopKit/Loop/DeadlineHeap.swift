/// Deadlines by their time: adding one and taking the nearest cost the logarithm of their number.
///
/// Nothing is removed before its time: the owner keeps at most one deadline here for each descriptor, and looks again
/// when it comes up.
struct DeadlineHeap {
    struct Entry {
        /// Nanoseconds on the clock of the loop.
        let time: Int64
        let token: UInt64
    }

    private var entries: [Entry] = []

    var nearest: Int64? { entries.first?.time }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].time < entries[parent].time else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// The nearest deadline, when it is not after `now`.
    mutating func takeFirst(until now: Int64) -> Entry? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if entries[child].time < entries[least].time { least = child }
            }
            guard least != index else { return first }
            entries.swapAt(index, least)
            index = least
        }
    }
}
