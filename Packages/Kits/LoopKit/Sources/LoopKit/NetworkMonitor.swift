import CLoopKit
import Glibc
import Synchronization

/// Tells changes of the network as they happen: interfaces, addresses, the way out, and a machine that wakes up.
///
///     for try await change in try await NetworkMonitor.start(loop: loop) { … }
///
/// The kernel repeats itself, for each renewal of an address for instance; only what is new is told. The loopback
/// interface does not count.
public final class NetworkMonitor: Sendable {
    fileprivate struct State {
        var known = KnownFacts()
        var sleep = SuspendDetector()
        var pending: [NetworkChange] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 15)
    }

    private let socket: LoopDescriptor
    private let clock: LoopDescriptor
    private let state = Mutex(State())

    /// Begins to listen, in the network namespace of the calling thread, without knowing yet what is so: until
    /// `learn` has returned, what is told may be old.
    public init(loop: EventLoop) throws(LoopError) {
        let opened = loopkit_network_open()
        guard opened >= 0 else { throw .system("listen for changes of the network", errno: -opened) }
        socket = try LoopDescriptor(owning: opened, loop: loop)
        let timer = loopkit_clock_open()
        guard timer >= 0 else { throw .system("listen for jumps of the clock", errno: -timer) }
        clock = try LoopDescriptor(owning: timer, loop: loop)
        state.withLock { _ = $0.sleep.sawSleep() }
    }

    /// Begins to listen and learns how the network is now.
    public static func start(loop: EventLoop) async throws -> NetworkMonitor {
        let monitor = try NetworkMonitor(loop: loop)
        try await monitor.learn()
        return monitor
    }

    /// Learns how the network is now, so that only what changes from here on is told.
    public func learn() async throws {
        try await ask()
        state.withLock { $0.pending = [] }
    }

    /// Asks for all that is so. Nothing is told of it, nor of what changes meanwhile.
    private func ask() async throws {
        state.withLock { $0.known.begin() }
        do {
            try await askForLists()
        } catch {
            state.withLock { $0.known.doubt() }
            throw error
        }
        state.withLock { $0.known.isAsked = false }
    }

    private func askForLists() async throws {
        for kind in [LOOPKIT_LINK, LOOPKIT_ADDRESS, LOOPKIT_ROUTE] {
            let result = socket.withDescriptor { descriptor, _ in loopkit_network_request(descriptor, Int32(kind)) }
            guard result == 0 else { throw LoopError.system("ask for the network", errno: -(result ?? -EBADF)) }
            while try !receive() {
                guard try await socket.readable() == .ready else { return }
            }
        }
    }

    /// The next change; nil when the loop was stopped.
    public func next() async throws -> NetworkChange? {
        while true {
            _ = try receive()
            receiveJump()
            if let change = state.withLock({ $0.pending.isEmpty ? nil : $0.pending.removeFirst() }) { return change }
            if state.withLock({ $0.known.isDoubtful }) {
                // What is known is learnt anew before anybody is told, so that this stands for all that came until then.
                try await ask()
                return .many
            }
            guard try await wait() else { return nil }
        }
    }

    /// Waits for one of the two; false when they are closed.
    private func wait() async throws -> Bool {
        try await withThrowingTaskGroup(of: LoopDescriptor.Wake.self) { [socket, clock] group in
            group.addTask { try await socket.readable() }
            group.addTask { try await clock.readable() }
            defer { group.cancelAll() }
            return try await group.next() == .ready
        }
    }

    /// Takes all that is there; true when a list that was asked for is complete.
    private func receive() throws(LoopError) -> Bool {
        var isComplete = false
        while true {
            let attempt = state.withLock { state in
                let attempt = unsafe state.buffer.withUnsafeMutableBytes { buffer in
                    socket.attempt(.readable) { unsafe recv($0, buffer.baseAddress, buffer.count, 0) }
                }
                if case .moved(let count) = attempt { isComplete = state.read(count) || isComplete }
                return attempt
            }
            switch attempt {
            case .moved: continue
            case .wouldBlock, .closed: return isComplete
            // The kernel had more to tell than fits its buffer.
            case .failed(ENOBUFS):
                state.withLock { $0.known.doubt() }
            case .failed(let number): throw .system("listen for changes of the network", errno: number)
            }
        }
    }

    /// Whether a change can touch connections to elsewhere: one of an interface that no way out goes through, such as
    /// that of a container, does not.
    public func concernsWayOut(_ change: NetworkChange) -> Bool {
        switch change {
        case .link(let interface, _), .address(let interface, _):
            state.withLock { $0.known.leadsOut(interface) }
        case .route, .resumed, .many: true
        }
    }

    private func receiveJump() {
        var count: UInt64 = 0
        let attempt = clock.attempt(.readable) { unsafe read($0, &count, 8) }
        guard case .failed(ECANCELED) = attempt else { return }
        _ = clock.withDescriptor { descriptor, _ in loopkit_clock_arm(descriptor) }
        // The clock of the day is also set by hand and by time services; that is nothing.
        state.withLock { if $0.sleep.sawSleep() { $0.pending.append(.resumed) } }
    }
}

extension NetworkMonitor: AsyncSequence {
    /// Takes from the monitor; every change goes to one iterator.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let monitor: NetworkMonitor

        public func next() async throws -> NetworkChange? { try await monitor.next() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(monitor: self) }
}

extension NetworkMonitor.State {
    /// Notes what was received; true when it ends a list.
    fileprivate mutating func read(_ count: Int) -> Bool {
        var offset = 0
        var fact = loopkit_fact()
        var isComplete = false
        unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            while true {
                switch Int(unsafe loopkit_network_read(base, count, &offset, &fact)) {
                case LOOPKIT_END: return
                case LOOPKIT_DONE: isComplete = true
                case LOOPKIT_FACT: if let change = known.note(fact) { pending.append(change) }
                default: break
                }
            }
        }
        return isComplete
    }
}

/// What is so, to tell news from repetitions.
private struct KnownFacts {
    private struct Fact: Hashable {
        let kind: Int32
        let interface: Int32
        let family: Int32
        let address: SIMD16<UInt8>
    }

    private var facts: Set<Fact> = []
    /// Whether something was lost, so that the lists have to be asked for again.
    private(set) var isDoubtful = false
    /// Whether the lists are on their way.
    var isAsked = false

    mutating func doubt() {
        isDoubtful = true
    }

    /// Begins anew with nothing.
    mutating func begin() {
        facts = []
        isDoubtful = false
        isAsked = true
    }

    /// Whether a way to everywhere else goes through an interface.
    func leadsOut(_ interface: Int) -> Bool {
        facts.contains { Int($0.kind) == LOOPKIT_ROUTE && Int($0.interface) == interface }
    }

    mutating func note(_ told: loopkit_fact) -> NetworkChange? {
        let address = unsafe withUnsafeBytes(of: told.address) { unsafe $0.loadUnaligned(as: SIMD16<UInt8>.self) }
        let fact = Fact(kind: told.kind, interface: told.interface, family: told.family, address: address)
        let isNew = told.holds != 0 ? facts.insert(fact).inserted : facts.remove(fact) != nil
        guard isNew, !isDoubtful, !isAsked else { return nil }
        let (interface, holds) = (Int(told.interface), told.holds != 0)
        switch Int(told.kind) {
        case LOOPKIT_LINK: return .link(interface: interface, isUp: holds)
        case LOOPKIT_ADDRESS: return .address(interface: interface, isThere: holds)
        default: return .route(interface: interface, isThere: holds)
        }
    }
}

/// Something about the network that makes what is connected worth a new try.
public enum NetworkChange: Sendable, Hashable {
    /// An interface can be used now, or no longer.
    case link(interface: Int, isUp: Bool)
    /// An interface has got an address, or lost one.
    case address(interface: Int, isThere: Bool)
    /// A way to everywhere else has come, or gone.
    case route(interface: Int, isThere: Bool)
    /// The machine has slept.
    case resumed
    /// More happened than the kernel could keep.
    case many
}

/// Notices that the machine slept: one clock goes on meanwhile, and the other stands still.
public struct SuspendDetector: Sendable {
    private var last: (continuous: ContinuousClock.Instant, suspending: SuspendingClock.Instant)?
    private let threshold: Duration

    /// Sleeps shorter than `threshold` are not noticed: connections outlive them.
    public init(threshold: Duration = .seconds(2)) {
        self.threshold = threshold
    }

    /// Whether the machine slept between the last call and this one.
    public mutating func sawSleep(
        continuous: ContinuousClock.Instant = .now, suspending: SuspendingClock.Instant = .now
    ) -> Bool {
        defer { last = (continuous, suspending) }
        guard let last else { return false }
        return (continuous - last.continuous) - (suspending - last.suspending) >= threshold
    }
}
