import Synchronization

/// Entries that only grow, such as the lines of a log: appended by the body of a screen, and read by position by whoever
/// shows it.
///
/// The oldest entries are dropped beyond a number of entries or bytes. Positions count from the first entry ever, so a
/// reader sees how many it has missed.
public final class Feed<Entry: FeedEntry>: Sendable {
    private let mostEntries: Int
    private let mostBytes: Int
    private let state = Mutex(State())

    private struct State {
        var entries: [Entry] = []
        /// How many entries at the front of `entries` are dropped already; removed in one go from time to time.
        var dropped = 0
        /// The position of the first entry of `entries`.
        var base = 0
        var bytes = 0
        /// Grows with each change.
        var version = 0
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextObserver = 0
    }

    /// An empty feed.
    public init(mostEntries: Int = 10_000, mostBytes: Int = 8 << 20) {
        self.mostEntries = mostEntries
        self.mostBytes = mostBytes
    }

    /// The position of the oldest entry that is still there: how many were dropped.
    public var start: Int { state.withLock { $0.base + $0.dropped } }
    /// The position after the newest entry.
    public var end: Int { state.withLock { $0.base + $0.entries.count } }
    /// A number that grows with each change.
    public var version: Int { state.withLock { $0.version } }

    /// How many wait for changes.
    var observers: Int { state.withLock { $0.observers.count } }

    /// Adds entries at the end.
    public func append(_ entries: [Entry]) {
        guard !entries.isEmpty else { return }
        change { state in
            state.entries += entries
            state.bytes += entries.reduce(0) { $0 + $1.size }
        }
    }

    /// Adds an entry at the end.
    public func append(_ entry: Entry) { append([entry]) }

    /// Changes the newest entry, which is still being written. Adds it if there is none.
    public func replaceLast(with entry: Entry) {
        change { state in
            if state.entries.count > state.dropped { state.bytes -= state.entries.removeLast().size }
            state.entries.append(entry)
            state.bytes += entry.size
        }
    }

    /// At most `count` entries from a position on; fewer if they were dropped or are not there yet.
    ///
    /// It costs as much as there are entries in the answer, and keeping that costs the feed nothing.
    public func entries(from position: Int, count: Int = .max) -> (position: Int, entries: ArraySlice<Entry>) {
        state.withLock { state in
            let first = min(max(position - state.base, state.dropped), state.entries.count)
            let last = count > state.entries.count - first ? state.entries.count : first + max(0, count)
            // A slice would share the storage of all, and the next change would copy every entry.
            return (state.base + first, Array(state.entries[first..<last])[...])
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let observers = state.withLock { state in
            body(&state)
            while state.entries.count - state.dropped > 1,
                state.entries.count - state.dropped > mostEntries || state.bytes > mostBytes
            {
                state.bytes -= state.entries[state.dropped].size
                state.dropped += 1
            }
            // Removing one by one would move all the others each time.
            if state.dropped > max(64, state.entries.count / 2) {
                state.entries.removeFirst(state.dropped)
                state.base += state.dropped
                state.dropped = 0
            }
            state.version += 1
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }
}

/// An entry of a feed.
public protocol FeedEntry: Sendable, Hashable {
    /// How many bytes it counts.
    var size: Int { get }
}

/// A feed without the type of its entries, for waiting for changes.
package protocol AnyFeed: AnyObject, Sendable {
    /// Calls `changed` after each change, until `removeObserver`.
    func addObserver(_ changed: @escaping @Sendable () -> Void) -> Int
    func removeObserver(_ number: Int)
}

extension Feed: AnyFeed {
    package func addObserver(_ changed: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            defer { state.nextObserver += 1 }
            state.observers[state.nextObserver] = changed
            return state.nextObserver
        }
    }

    package func removeObserver(_ number: Int) { state.withLock { _ = $0.observers.removeValue(forKey: number) } }
}

extension Feed: Hashable {
    public static func == (left: Feed, right: Feed) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
