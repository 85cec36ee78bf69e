import Glibc
import LoopKit
import Testing

@Suite("Network monitor", .timeLimit(.minutes(5)))
struct NetworkTests {
    @Test("Each change of an interface, an address or the default route is reported once")
    func changes() async throws {
        let loop = EventLoop()
        let name = Namespace()
        defer { name.remove() }
        let monitor = try await name.enter { try NetworkMonitor(loop: loop) }
        try await name.run("ip link set lo up", "ip link add wire type veth peer name other")
        try await monitor.learn()
        let wire = try await name.index(of: "wire")
        let other = try await name.index(of: "other")

        // Without automatic addresses, every change is made by the test.
        try await name.run(
            "ip link set wire addrgenmode none", "ip link set other addrgenmode none", "ip link set wire up",
            "ip link set other up")
        var seen = try await (0..<2).asyncMap { _ in try await monitor.next() }
        #expect(Set(seen) == [.link(interface: wire, isUp: true), .link(interface: other, isUp: true)])

        try await name.run(
            "ip addr add 192.0.2.1/24 dev wire", "ip addr change 192.0.2.1/24 dev wire valid_lft 500 preferred_lft 400",
            "ip route add default via 192.0.2.2", "ip route add 198.51.100.0/24 via 192.0.2.2",
            "ip route del default")
        seen = try await (0..<3).asyncMap { _ in try await monitor.next() }
        #expect(
            seen == [
                .address(interface: wire, isThere: true), .route(interface: wire, isThere: true),
                .route(interface: wire, isThere: false),
            ])

        try await name.run("ip addr del 192.0.2.1/24 dev wire", "ip link del wire")
        seen = try await (0..<3).asyncMap { _ in try await monitor.next() }
        #expect(
            Set(seen) == [
                .address(interface: wire, isThere: false), .link(interface: wire, isUp: false),
                .link(interface: other, isUp: false),
            ])
    }

    @Test("The whole state is read again after an overrun, and known facts are not reported as changes")
    func overrun() async throws {
        let loop = EventLoop()
        let name = Namespace()
        defer { name.remove() }
        try await name.run(
            "ip link set lo up", "ip link add wire type veth peer name other", "ip link set wire addrgenmode none",
            "ip link set other addrgenmode none", "ip link set wire up", "ip link set other up",
            "ip addr add 192.0.2.1/24 dev wire")
        let wire = try await name.index(of: "wire")
        let monitor = try await name.enter { try NetworkMonitor(loop: loop) }
        try await monitor.learn()
        // Nothing is read meanwhile, and the kernel keeps only a few hundred messages.
        let lines = "seq 0 2999 | sed 's|.*|addr add 10.0.0.1/32 dev wire\\naddr del 10.0.0.1/32 dev wire|'"
        try await name.run("sh -c \"\(lines) | ip -batch -\"")
        #expect(try await monitor.next() == .many)
        try await name.run(
            "ip addr change 192.0.2.1/24 dev wire valid_lft 500 preferred_lft 400",
            "ip addr change 192.0.2.1/24 dev wire valid_lft 600 preferred_lft 500", "ip addr add 192.0.2.9/24 dev wire",
            "ip addr del 192.0.2.1/24 dev wire")
        #expect(try await monitor.next() == .address(interface: wire, isThere: true))
        #expect(try await monitor.next() == .address(interface: wire, isThere: false))
    }

    @Test("Only changes to an interface with a default route affect the way out")
    func wayOut() async throws {
        let loop = EventLoop()
        let name = Namespace()
        defer { name.remove() }
        try await name.run(
            "ip link set lo up", "ip link add wire type veth peer name other", "ip link set wire addrgenmode none",
            "ip link set other addrgenmode none", "ip link set wire up", "ip link set other up",
            "ip addr add 192.0.2.1/24 dev wire", "ip route add default via 192.0.2.2")
        let monitor = try await name.enter { try NetworkMonitor(loop: loop) }
        try await monitor.learn()
        try await name.run("ip addr add 198.51.100.1/24 dev other", "ip addr add 192.0.2.9/24 dev wire")
        let (inside, outside) = (try await monitor.next(), try await monitor.next())
        #expect(inside.map { monitor.concernsWayOut($0) } == false)
        #expect(outside.map { monitor.concernsWayOut($0) } == true)
        for change in [NetworkChange.resumed, .many] { #expect(monitor.concernsWayOut(change)) }
    }

    @Test("A listing of the current state is not reported as a change")
    func silence() async throws {
        let loop = EventLoop()
        let name = Namespace()
        defer { name.remove() }
        try await name.run("ip link set lo up", "ip link add wire type veth peer name other")
        let monitor = try await name.enter { try NetworkMonitor(loop: loop) }
        try await monitor.learn()
        try await monitor.learn()
        let waiting = Task { try await monitor.next() }
        try await name.run("ip addr add 192.0.2.1/24 dev wire")
        let wire = try await name.index(of: "wire")
        #expect(try await waiting.value == .address(interface: wire, isThere: true))
        let cancelled = Task { try await monitor.next() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        loop.stop()
        #expect(try await monitor.next() == nil)
    }

    @Test("Sleep of the machine is detected by a clock that stood still")
    func suspend() {
        var detector = SuspendDetector()
        let (continuous, suspending) = (ContinuousClock.now, SuspendingClock.now)
        func saw(_ awake: Double, _ asleep: Double) -> Bool {
            detector.sawSleep(
                continuous: continuous + .seconds(awake + asleep), suspending: suspending + .seconds(awake))
        }
        #expect(saw(0, 0) == false)
        #expect(saw(1_000, 0) == false)
        #expect(saw(1_001, 1.9) == false)
        #expect(saw(1_002, 5) == true)
        #expect(saw(1_003, 5) == false)
        #expect(saw(1_003, 3_600) == true)
    }
}

extension Range<Int> {
    fileprivate func asyncMap<T>(_ body: (Int) async throws -> T) async throws -> [T] {
        var results: [T] = []
        for index in self { results.append(try await body(index)) }
        return results
    }
}

/// A network namespace of this test, which needs root.
private struct Namespace {
    let name = "martlet-\(getpid())-\(UInt32.random(in: .min ... .max))"

    init() {
        #expect(unsafe system("ip netns add \(name)") == 0, "a network namespace needs root and iproute2")
    }

    func remove() { _ = unsafe system("ip netns del \(name)") }

    func run(_ commands: String...) async throws {
        for command in commands {
            let status = try await onOwnThread { [name] in unsafe system("ip netns exec \(name) \(command)") }
            #expect(status == 0, "\(command)")
        }
    }

    func index(of interface: String) async throws -> Int {
        try await enter {
            let index = unsafe if_nametoindex(interface)
            #expect(index > 0)
            return Int(index)
        }
    }

    /// Runs `body` on a thread inside the namespace.
    func enter<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await onOwnThread { [name] in
            Result {
                let file = unsafe open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
                defer { close(file) }
                // Declared only under _GNU_SOURCE, so the module does not have it.
                typealias Function = @convention(c) (Int32, Int32) -> Int32
                guard let symbol = unsafe dlsym(nil, "setns") else { throw NoNamespaces() }
                let setns = unsafe unsafeBitCast(symbol, to: Function.self)
                try #require(setns(file, 0) == 0)
                return try body()
            }
        }.get()
    }
}

private struct NoNamespaces: Error {}
