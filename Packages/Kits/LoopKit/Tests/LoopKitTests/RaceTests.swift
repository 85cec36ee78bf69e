import CoreTesting
import Glibc
import LoopKit
import Testing

@Suite("Races of descriptors", .timeLimit(.minutes(5)))
struct RaceTests {
    let loop = EventLoop()

    @Test("A wake-up between an attempt and the wait is not lost, 40,000 times in two directions")
    func noneLost() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (left, right) = (
            try LoopDescriptor(owning: ends[0], loop: loop), try LoopDescriptor(owning: ends[1], loop: loop)
        )
        // A side that missed the other's byte would wait for ever.
        @Sendable func play(_ mine: LoopDescriptor, serves: Bool) async throws -> Int {
            var byte: UInt8 = 1
            var count = 0
            if serves { #expect(mine.attempt(.writable) { unsafe write($0, &byte, 1) } == .moved(1)) }
            while count < 20_000 {
                switch readByte(mine) {
                case .moved(1):
                    count += 1
                    #expect(mine.attempt(.writable) { unsafe write($0, &byte, 1) } == .moved(1))
                case .wouldBlock: #expect(try await mine.readable() == .ready)
                default: return count
                }
            }
            return count
        }
        async let one = play(left, serves: true)
        async let other = play(right, serves: false)
        #expect(try await [one, other] == [20_000, 20_000])
    }

    @Test("A wait that is cancelled as it begins or as its event arrives ends once, 4,000 times")
    func cancellation() async throws {
        var outcomes = (ready: 0, cancelled: 0)
        for round in 0..<4_000 {
            let pair = try SocketPair(loop)
            #expect(pair.receive() == .wouldBlock)
            let waiting = Task { try await pair.watched.readable(until: .now + .seconds(40)) }
            if round % 3 == 0 { await Task.yield() }
            if round % 2 == 0 { pair.send() }
            waiting.cancel()
            do {
                #expect(try await waiting.value == .ready)
                outcomes.ready += 1
            } catch {
                #expect(error is CancellationError)
                outcomes.cancelled += 1
            }
            pair.end()
        }
        #expect(outcomes.cancelled > 0)
        #expect(outcomes.ready + outcomes.cancelled == 4_000)
    }

    @Test("Closing a descriptor ends all concurrent waits, attempts and cancellations, 1,000 times")
    func closing() async throws {
        for round in 0..<1_000 {
            let pair = try SocketPair(loop)
            let tasks = (0..<4).map { index in
                Task {
                    while true {
                        switch readByte(pair.watched) {
                        case .wouldBlock:
                            let deadline = ContinuousClock.now + .seconds(index % 2 == 0 ? 20 : 30)
                            if try await pair.watched.readable(until: deadline) == .closed { return }
                        case .closed: return
                        default: break
                        }
                    }
                }
            }
            pair.send()
            if round % 2 == 0 { tasks[round % 4].cancel() }
            pair.watched.close()
            for task in tasks { _ = await task.result }
            close(pair.peer)
        }
    }

    @Test("5,000 connections on one thread each get their own byte, and an idle one takes less than 500 bytes")
    func many() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            try allowDescriptors(10_200)
            let loop = EventLoop()
            _ = try SocketPair(loop)
            let before = try TestProcess.residentBytes()
            var pairs: [SocketPair] = []
            pairs.reserveCapacity(5_000)
            for _ in 0..<5_000 { pairs.append(try SocketPair(loop)) }
            for pair in pairs { #expect(pair.receive() == .wouldBlock) }
            let idle = (try TestProcess.residentBytes() - before) / 5_000
            print("an idle descriptor: \(idle) bytes of memory, of which 16 are the list of this test")
            #expect(idle < 500)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for pair in pairs {
                    group.addTask {
                        let wake = try await pair.watched.readable(until: .now + .seconds(50))
                        #expect(wake == .ready)
                        #expect(pair.receive() == .moved(1))
                    }
                }
                for pair in pairs.reversed() { pair.send() }
                try await group.waitForAll()
            }
            for pair in pairs { pair.end() }
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}
