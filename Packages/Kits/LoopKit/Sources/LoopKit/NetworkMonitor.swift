import CLoopKit
import Glibc
import Synchronization

/// Reports network changes as they happen: interfaces, addresses, the default route, and a machine that wakes up.
///
///     for try await change in try await NetworkMonitor.start(loop: loop) { … }
///
/// The kernel repeats facts, for example for each renewal of an address. Only new facts are reported. The loopback
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

    /// Starts to listen in the network namespace of the calling thread. Until `learn` has returned, reported changes
    /// may be old.
    public init(loop: EventLoop) throws(LoopError) {
        let opened = loopkit_network_open()
        guard opened >= 0 else { throw .system("watch for network changes", errno: -opened) }
        socket = try LoopDescriptor(owning: opened, loop: loop)
        let timer = loopkit_clock_open()
        guard timer >= 0 else { throw .system("watch for clock changes", errno: -timer) }
        clock = try LoopDescriptor(owning: timer, loop: loop)
        state.withLock { _ = $0.sleep.sawSleep() }
    }

    /// Starts to listen and learns the current state of the network.
    public static func start(loop: EventLoop) async throws -> NetworkMonitor {
        let monitor = try NetworkMonitor(loop: loop)
        try await monitor.learn()
        return monitor
    }

    /// Learns the current state of the network, so that only later changes are reported.
    public func learn() async throws {
        try await ask()
        state.withLock { $0.pending = [] }
    }

    /// Requests the whole state. Neither the state nor changes meanwhile are reported.
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
            guard result == 0 else { throw LoopError.system("read the network state", errno: -(result ?? -EBADF)) }
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
                // The whole state is read again first, so that this one change stands for all changes until then.
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

    /// Reads all pending messages. True when a requested list is complete.
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
            // The kernel had more messages than fit its buffer.
            case .failed(ENOBUFS):
                state.withLock { $0.known.doubt() }
            case .failed(let number): throw .system("watch for network changes", errno: number)
            }
        }
    }

    /// Whether a change can affect connections to other machines. An interface without a default route, such as that of
    /// a container, does not.
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
        // The wall clock is also set by hand and by time services, which does not matter here.
        state.withLock { if $0.sleep.sawSleep() { $0.pending.append(.resumed) } }
    }
}

extension NetworkMonitor: AsyncSequence {
    /// Reads from the monitor. Every change goes to one iterator only.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let monitor: NetworkMonitor

        public func next() async throws -> NetworkChange? { try await monitor.next() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(monitor: self) }
}

extension NetworkMonitor.State {
    /// Records the received messages. True when they end a list.
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

/// The known facts, to distinguish news from repetitions.
private struct KnownFacts {
    private struct Fact: Hashable {
        let kind: Int32
        let interface: Int32
        let family: Int32
        let address: SIMD16<UInt8>
    }

    private var facts: Set<Fact> = []
    /// Whether messages were lost, so that the lists must be requested again.
    private(set) var isDoubtful = false
    /// Whether the lists were requested.
    var isAsked = false

    mutating func doubt() {
        isDoubtful = true
    }

    /// Starts again without facts.
    mutating func begin() {
        facts = []
        isDoubtful = false
        isAsked = true
    }

    /// Whether a default route goes through an interface.
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

/// A network change after which connections should be tried again.
public enum NetworkChange: Sendable, Hashable {
    /// An interface can be used now, or no longer.
    case link(interface: Int, isUp: Bool)
    /// An interface has got an address, or lost one.
    case address(interface: Int, isThere: Bool)
    /// A default route has come or gone.
    case route(interface: Int, isThere: Bool)
    /// The machine has slept.
    case resumed
    /// More happened than the kernel could keep.
    case many
}

/// Notices that the machine slept: one clock continues during sleep, and the other stops.
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
