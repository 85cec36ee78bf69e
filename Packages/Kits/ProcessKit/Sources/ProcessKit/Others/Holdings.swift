import Synchronization

/// What one store of this process holds of things that processes share, such as runs that go on.
///
/// Who holds a thing is stored with it: a process, and a store within it. What another process holds, it holds as long as
/// it lives. What this store holds, it holds until that is given back; so a thing whose end could not be stored, for
/// want of space perhaps, can be taken up again by the process itself.
public final class Holdings: Sendable {
    /// Which of the stores that a process opens one after the other, or side by side.
    private let store = String(UInt64.random(in: .min ... .max), radix: 36)
    private let ids = Mutex<Set<String>>([])

    private static let process = ProcessIdentity.own

    public init() {}

    /// This store, as it is stored with what it holds.
    public var holder: String { "\(Self.process.text)/\(store)" }

    public func take(_ id: String) {
        ids.withLock { _ = $0.insert(id) }
    }

    public func giveBack(_ id: String) {
        ids.withLock { _ = $0.remove(id) }
    }

    /// Takes a thing for as long as whoever asks keeps what is given here.
    public func hold(_ id: String) -> Hold {
        take(id)
        return Hold(id, in: self)
    }

    /// Something that is held until it is given back or forgotten.
    public final class Hold: Sendable {
        private let id: String
        private let holdings: Holdings
        private let isOver = Atomic(false)

        fileprivate init(_ id: String, in holdings: Holdings) {
            (self.id, self.holdings) = (id, holdings)
        }

        deinit { giveBack() }

        /// Once: somebody else may have taken it when this is forgotten.
        public func giveBack() {
            if !isOver.exchange(true, ordering: .relaxed) { holdings.giveBack(id) }
        }
    }

    /// Whether somebody holds a thing with which that holder is stored.
    public func isHeld(_ id: String, by holder: String?) -> Bool { process(holding: id, by: holder) != nil }

    /// The process of whoever holds it; nil when nobody does any more.
    public func process(holding id: String, by holder: String?) -> Int32? {
        guard let holder, let (process, store) = Self.read(holder) else { return nil }
        let isHeld =
            store == self.store && process == Self.process
            ? ids.withLock { $0.contains(id) } : process.isAlive
        return isHeld ? process.process : nil
    }

    /// A process, and a store where one is named.
    private static func read(_ holder: String) -> (ProcessIdentity, store: String?)? {
        if let process = ProcessIdentity(holder) { return (process, nil) }
        guard let slash = holder.lastIndex(of: "/"), let process = ProcessIdentity(String(holder[..<slash])) else {
            return nil
        }
        return (process, String(holder[holder.index(after: slash)...]))
    }
}
