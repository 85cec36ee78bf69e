import HTTPClient
import Testing

/// Tests rows D-02, D-03 and D-04 without a clock, a network or a task.
@Suite("Connection machine")
struct ConnectionMachineTests {
    typealias Machine = ConnectionMachine<ContinuousClock.Instant>

    let origin = ContinuousClock.now

    func at(_ seconds: Double) -> ContinuousClock.Instant { origin + .seconds(seconds) }

    @Test("A successful attempt leads to the connected state, and each change is reported")  // row D-02
    func success() {
        var machine = Machine()
        #expect(machine.state == .disconnected)
        #expect(machine.nextTick == nil)
        var actions = machine.handle(.start, at: at(0))
        #expect(actions == [.connect, .changed(.connecting)])
        actions = machine.handle(.start, at: at(0))
        #expect(actions == [])
        actions = machine.handle(.connected, at: at(1))
        #expect(actions == [.changed(.connected)])
        actions = machine.handle(.stop, at: at(2))
        #expect(actions == [.drop, .changed(.disconnected)])
        actions = machine.handle(.tick, at: at(3)) + machine.handle(.networkChanged, at: at(3))
        #expect(actions == [])
    }

    @Test("A failed connection waits 1, 2, 4, 8, 16 and then 30 seconds, and the tenth failure ends it")  // row D-02
    func backoff() {
        var machine = Machine()
        _ = machine.handle(.start, at: at(0))
        var now = 0.0
        for (index, wait) in [1.0, 2, 4, 8, 16, 30, 30, 30, 30].enumerated() {
            now += 0.5
            let next = at(now + wait)
            var actions = machine.handle(.failed, at: at(now))
            #expect(actions == [.changed(.reconnecting(attempt: index + 1, at: next))])
            #expect(machine.nextTick == next)
            actions = machine.handle(.tick, at: at(now + wait - 0.001))
            #expect(actions == [])
            now += wait
            actions = machine.handle(.tick, at: at(now))
            #expect(actions == [.connect, .changed(.connecting)])
        }
        let actions = machine.handle(.failed, at: at(now))
        #expect(actions == [.changed(.disconnected)])
        #expect(machine.nextTick == nil)
        // A new start counts the failures from one again.
        _ = machine.handle(.start, at: at(now))
        _ = machine.handle(.failed, at: at(now))
        #expect(machine.state == .reconnecting(attempt: 1, at: at(now + 1)))
    }

    @Test("A persistent connection retries every 60 seconds")  // row D-02
    func persistence() {
        var policy = ConnectionPolicy()
        policy.persistence = .seconds(60)
        var machine = Machine(policy: policy)
        _ = machine.handle(.start, at: at(0))
        for _ in 1...9 {
            _ = machine.handle(.failed, at: at(0))
            _ = machine.handle(.tick, at: at(100))
        }
        for attempt in 10...30 {
            _ = machine.handle(.failed, at: at(0))
            #expect(machine.state == .reconnecting(attempt: attempt, at: at(60)))
            _ = machine.handle(.tick, at: at(60))
        }
    }

    @Test("A lost connection is retried, and only received data resets the count of failures")  // row D-02
    func flapping() {
        var machine = Machine()
        _ = machine.handle(.start, at: at(0))
        for attempt in 1...3 {
            // An accepted connection that drops without any data is a failure too.
            _ = machine.handle(.connected, at: at(0))
            _ = machine.handle(.failed, at: at(0))
            guard case .reconnecting(attempt, _) = machine.state else {
                Issue.record("attempt \(attempt) is \(machine.state)")
                return
            }
            _ = machine.handle(.tick, at: at(1_000))
        }
        _ = machine.handle(.connected, at: at(1_000))
        _ = machine.handle(.received, at: at(1_001))
        _ = machine.handle(.failed, at: at(1_002))
        #expect(machine.state == .reconnecting(attempt: 1, at: at(1_003)))
    }

    @Test("A ping goes out every 30 seconds, and any received data keeps the connection alive for 45")  // row D-03
    func life() {
        var machine = Machine()
        _ = machine.handle(.start, at: at(0))
        _ = machine.handle(.connected, at: at(0))
        #expect(machine.nextTick == at(30))
        var actions = machine.handle(.tick, at: at(29.9))
        #expect(actions == [])
        actions = machine.handle(.tick, at: at(30))
        #expect(actions == [.ping])
        #expect(machine.nextTick == at(45))
        _ = machine.handle(.received, at: at(44))
        actions = machine.handle(.tick, at: at(45))
        #expect(actions == [])
        #expect(machine.nextTick == at(60))
        actions = machine.handle(.tick, at: at(60))
        #expect(actions == [.ping])
        #expect(machine.nextTick == at(89))
        actions = machine.handle(.tick, at: at(88.9))
        #expect(actions == [])
        actions = machine.handle(.tick, at: at(89))
        #expect(actions == [.drop, .changed(.reconnecting(attempt: 1, at: at(90)))])
    }

    @Test("A network change connects at once in every state but disconnected and resets the failure count")  // row D-04
    func network() {
        var machine = Machine()
        _ = machine.handle(.start, at: at(0))
        var actions = machine.handle(.networkChanged, at: at(0))
        #expect(actions == [.drop, .connect])
        for _ in 1...5 {
            _ = machine.handle(.failed, at: at(0))
            if machine.state != .reconnecting(attempt: 5, at: at(16)) { _ = machine.handle(.tick, at: at(500)) }
        }
        #expect(machine.state == .reconnecting(attempt: 5, at: at(16)))
        actions = machine.handle(.networkChanged, at: at(1))
        #expect(actions == [.connect, .changed(.connecting)])
        _ = machine.handle(.connected, at: at(2))
        actions = machine.handle(.networkChanged, at: at(3))
        #expect(actions == [.drop, .connect, .changed(.connecting)])
        _ = machine.handle(.failed, at: at(4))
        #expect(machine.state == .reconnecting(attempt: 1, at: at(5)))
    }

    @Test("Network changes within two seconds of each other make one new connection after the last")
    func settling() {
        var machine = Machine()
        _ = machine.handle(.start, at: at(0))
        _ = machine.handle(.connected, at: at(1))
        #expect(machine.handle(.networkChanged, at: at(10)) == [.drop, .connect, .changed(.connecting)])
        for time in [10.1, 10.5, 11] { #expect(machine.handle(.networkChanged, at: at(time)) == []) }
        #expect(machine.nextTick == at(12))
        #expect(machine.handle(.connected, at: at(11.5)) == [.changed(.connected)])
        #expect(machine.nextTick == at(12) && machine.handle(.tick, at: at(11.9)) == [])
        #expect(machine.handle(.tick, at: at(12)) == [.drop, .connect, .changed(.connecting)])
        #expect(machine.nextTick == nil)
        #expect(machine.handle(.stop, at: at(13)) == [.drop, .changed(.disconnected)])
    }

    @Test("Any order of events keeps the states consistent, connects once at a time and waits only for pending work")
    func anyOrder() {
        var generator = SystemRandomNumberGenerator()
        let events: [Machine.Event] = [.start, .connected, .failed, .received, .networkChanged, .tick, .stop]
        for _ in 0..<500 {
            var machine = Machine()
            var now = 0.0
            var isTrying = false
            for _ in 0..<60 {
                now += Double.random(in: 0...40, using: &generator)
                let event = events.randomElement(using: &generator) ?? .tick
                // These events come only from a running attempt.
                if event == .connected || event == .failed, !isTrying { continue }
                if event == .failed { isTrying = false }
                for action in machine.handle(event, at: at(now)) {
                    switch action {
                    case .drop: isTrying = false
                    case .connect:
                        #expect(!isTrying)
                        isTrying = true
                    case .ping: #expect(machine.state == .connected)
                    case .changed(let state): #expect(state == machine.state)
                    }
                }
                switch machine.state {
                case .disconnected: #expect(!isTrying && machine.nextTick == nil)
                case .connecting: #expect(isTrying)
                case .connected: #expect(isTrying && machine.nextTick != nil)
                case .reconnecting(_, let time): #expect(!isTrying && machine.nextTick == time)
                }
            }
        }
    }
}
