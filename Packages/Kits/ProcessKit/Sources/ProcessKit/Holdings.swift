import Synchronization

/// The things that one store of this process works on and that other processes must not touch, such as unfinished runs.
///
/// A store is one open database. It keeps a `holder` beside each thing: the text that names the process and the store
/// that work on it. A thing of this store is held until it is given back. A thing of another store or process is held
/// while that process lives. So when the end of a thing could not be stored, for example on a full disk, the same
/// process can take the thing again at once.
public final class Holdings: Sendable {
    /// Distinguishes this store from others in the same process.
    private let store = String(UInt64.random(in: .min ... .max), radix: 36)
    private let ids = Mutex<Set<String>>([])

    private static let process = ProcessIdentity.own

    /// The holdings of one store, without any thing yet.
    public init() {}

    /// The text that is stored beside each thing that this store holds.
    public var holder: String { "\(Self.process.text)/\(store)" }

    /// Marks a thing as held by this store until `giveBack`. Taking it again changes nothing.
    public func take(_ id: String) {
        ids.withLock { _ = $0.insert(id) }
    }

    /// Marks a thing as no longer held, however often it was taken.
    public func giveBack(_ id: String) {
        ids.withLock { _ = $0.remove(id) }
    }

    /// Takes a thing until the returned `Hold` is given back or deallocated.
    public func hold(_ id: String) -> Hold {
        take(id)
        return Hold(id, in: self)
    }

    /// Keeps one thing held until it is given back or deallocated.
    public final class Hold: Sendable {
        private let id: String
        private let holdings: Holdings
        private let isOver = Atomic(false)

        fileprivate init(_ id: String, in holdings: Holdings) {
            (self.id, self.holdings) = (id, holdings)
        }

        deinit { giveBack() }

        /// Gives the thing back. Further calls do nothing, because another hold may have taken the thing meanwhile.
        public func giveBack() {
            if !isOver.exchange(true, ordering: .relaxed) { holdings.giveBack(id) }
        }
    }

    /// Whether the holder that is stored beside a thing still holds it.
    public func isHeld(_ id: String, by holder: String?) -> Bool { process(holding: id, by: holder) != nil }

    /// The id of the process that still holds a thing, read from the holder stored beside it. Nil when none does.
    public func process(holding id: String, by holder: String?) -> Int32? {
        guard let holder, let (process, store) = Self.read(holder) else { return nil }
        let isHeld =
            store == self.store && process == Self.process
            ? ids.withLock { $0.contains(id) } : process.isAlive
        return isHeld ? process.process : nil
    }

    /// Splits a holder into its process and its store. Holders in older files have no store.
    private static func read(_ holder: String) -> (ProcessIdentity, store: String?)? {
        if let process = ProcessIdentity(holder) { return (process, nil) }
        guard let slash = holder.lastIndex(of: "/"), let process = ProcessIdentity(String(holder[..<slash])) else {
            return nil
        }
        return (process, String(holder[holder.index(after: slash)...]))
    }
}
