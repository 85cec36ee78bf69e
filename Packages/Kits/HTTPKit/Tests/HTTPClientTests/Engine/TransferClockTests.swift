import Capabilities
import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Transfer clock")
struct TransferClockTests {
    private func clock(total: Int64? = nil, idle: Int64? = 30) -> TransferClock {
        TransferClock(limits: TransferClock.Limits(connect: 10, firstByte: 20, idle: idle, total: total), now: 100)
    }

    @Test("Each phase has its limit")
    func phases() {
        var clock = clock()
        #expect(clock.deadline == 110)
        #expect(clock.passed(now: 109) == nil)
        #expect(clock.passed(now: 110) == .connectTimedOut)
        clock.connected(hasBody: true, now: 105)
        #expect(clock.deadline == 135 && clock.passed(now: 135) == .idleTimedOut)
        clock.sent(isLast: false, now: 120)
        #expect(clock.deadline == 150)
        clock.sent(isLast: true, now: 130)
        #expect(clock.deadline == 150 && clock.passed(now: 150) == .firstByteTimedOut)
        clock.received(now: 140)
        #expect(clock.deadline == 170 && clock.passed(now: 170) == .idleTimedOut)
        clock.received(now: 160)
        #expect(clock.passed(now: 189) == nil)
    }

    @Test("The wait for the response of a request without a body starts at once")
    func bodiless() {
        var clock = clock()
        clock.connected(hasBody: false, now: 105)
        #expect(clock.phase == .waiting && clock.deadline == 125)
    }

    @Test("Time in which the caller pauses the transfer does not count")
    func held() {
        var clock = clock()
        clock.connected(hasBody: true, now: 105)
        clock.holdByWriter()
        #expect(clock.deadline == .max && clock.passed(now: 1000) == nil)
        clock.releasedByWriter(now: 500)
        #expect(clock.deadline == 530)
        clock.sent(isLast: true, now: 510)
        clock.received(now: 520)
        clock.holdByReader()
        #expect(clock.passed(now: 9000) == nil)
        clock.releasedByReader(now: 9000)
        #expect(clock.passed(now: 9029) == nil && clock.passed(now: 9030) == .idleTimedOut)
    }

    @Test("The total limit applies in every phase, also while the caller pauses the transfer")
    func total() {
        var clock = clock(total: 50, idle: nil)
        #expect(clock.passed(now: 105) == nil)
        clock.connected(hasBody: false, now: 105)
        clock.received(now: 110)
        clock.holdByReader()
        #expect(clock.deadline == 150 && clock.passed(now: 150) == .totalTimedOut)
    }

    @Test("An interim response restarts the idle limit while the body is sent, but does not count as the response")
    func interim() {
        var clock = clock()
        clock.connected(hasBody: true, now: 105)
        clock.interim(now: 120)
        #expect(clock.phase == .sending && clock.deadline == 150)
        clock.sent(isLast: true, now: 130)
        clock.interim(now: 140)
        #expect(clock.deadline == 150)
    }

    @Test("Durations beyond the clock's range mean no limit instead of an overflow")
    func overflow() {
        let limits = TransferClock.Limits(connect: .max, firstByte: .max, idle: .max, total: .max)
        let clock = TransferClock(limits: limits, now: .max - 5)
        #expect(clock.deadline == .max && clock.passed(now: .max - 1) == nil)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
    }

    @Test("A default total limit does not count the time to send a large body, but limits the response")
    func sending() {
        var limits = TransferClock.Limits(connect: 10, firstByte: 20, idle: 30, total: 40)
        limits.totalCountsSending = false
        var clock = TransferClock(limits: limits, now: 100)
        clock.connected(hasBody: true, now: 105)
        for now in stride(from: Int64(120), to: 1000, by: 20) {
            #expect(clock.passed(now: now) == nil)
            clock.sent(isLast: false, now: now)
        }
        clock.sent(isLast: true, now: 1000)
        for now in stride(from: Int64(1010), to: 1040, by: 10) { clock.received(now: now) }
        #expect(clock.deadline == 1040 && clock.passed(now: 1040) == .totalTimedOut)
        // A response that starts before the body was sent is still limited.
        var early = TransferClock(limits: limits, now: 100)
        early.connected(hasBody: true, now: 105)
        early.received(now: 110)
        early.sent(isLast: false, now: 149)
        #expect(early.passed(now: 150) == .totalTimedOut)
    }

    @Test("An explicit total limit covers the whole request")
    func plan() throws {
        var request = HTTPRequest(.put, try HTTPURL("https://lab.example/model"), body: .text("x"))
        func limits() throws -> TransferClock.Limits {
            TransferPlan(
                request, lines: [], delivery: .whole(limit: 1), upload: try Upload(request.body), grant: .person
            ).limits
        }
        #expect(try limits().total == Duration.seconds(120).nanoseconds && !limits().totalCountsSending)
        request.limits.total = .seconds(600)
        #expect(try limits().totalCountsSending)
    }
}
