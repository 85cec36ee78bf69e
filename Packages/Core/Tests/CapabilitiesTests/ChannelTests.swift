import CoreTesting
import Synchronization
import Testing

@testable import Capabilities

@Suite("Channel", .timeLimit(.minutes(5)))
struct ChannelTests {
    private static let limit = 64

    @Test("Elements arrive in order, however fast reader and writer are")
    func inOrder() async throws {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<20 {
            let channel = Channel<Int>(limit: Self.limit)
            let (slowWriter, slowReader) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let writer = Task {
                for number in 0..<200 {
                    if slowWriter { await Task.yield() }
                    await channel.send([number])
                }
                channel.finish()
            }
            var read: [Int] = []
            while let elements = await channel.next() {
                read += elements
                if slowReader { await Task.yield() }
            }
            #expect(read == Array(0..<200))
            await writer.value
        }
    }

    @Test("The writer gets only a little ahead of the reader")
    func backPressure() async throws {
        let channel = Channel<Int>(limit: Self.limit)
        let begun = Mutex(0)
        let writer = Task {
            for number in 0..<200 {
                begun.withLock { $0 += 1 }
                await channel.send([number])
            }
        }
        var read: [Int] = []
        while read.count < 128 {
            while begun.withLock({ $0 }) < min(read.count + Self.limit, 200) { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            #expect(begun.withLock { $0 } <= read.count + Self.limit)
            read += await channel.next() ?? []
        }
        channel.hurry()
        await writer.value
        channel.finish()
        while let elements = await channel.next() { read += elements }
        #expect(read == Array(0..<200))
    }

    @Test("A cancelled reader loses no elements, and an abandoned writer does not wait")
    func cancelled() async throws {
        let channel = Channel<Int>(limit: Self.limit)
        let reader = Task { await channel.next() }
        reader.cancel()
        #expect(await reader.value == nil)
        await channel.send([1])
        await channel.ready()
        #expect(await channel.next() == [1])
        channel.abandon()
        for number in 0..<200 { await channel.send([number]) }
        #expect(await channel.next() == nil)
    }

    @Test("A nudge ends a wait in ready, before and while it waits")
    func nudged() async throws {
        let channel = Channel<Int>(limit: Self.limit)
        channel.nudge()
        #expect(await channel.ready() == false)
        let waiting = Task { await channel.ready() }
        await waitUntil { channel.state.withLock { $0.reader != nil } }
        channel.nudge()
        #expect(await waiting.value == false)
        channel.post([1])
        #expect(await channel.ready())
        #expect(await channel.next() == [1])
    }

    @Test(
        "A nudge does not end a wait for elements, before or while it waits, with or without a taker",
        arguments: [false, true])
    func unaffected(isWaiting: Bool) async throws {
        let channel = Channel<Int>(limit: Self.limit)
        if !isWaiting { channel.nudge() }
        let next = Task { await channel.next() }
        await waitUntil { channel.state.withLock { $0.reader != nil } }
        if isWaiting { channel.nudge() }
        channel.post([1])
        #expect(await next.value == [1])
        let taken = Mutex<[Int]>([])
        if !isWaiting { channel.nudge() }
        let taker = Task {
            try await channel.forward { elements in
                taken.withLock { $0 += elements }
                return true
            } room: {
            }
        }
        await waitUntil { channel.state.withLock { $0.reader != nil } }
        if isWaiting { channel.nudge() }
        channel.post([2])
        channel.finish()
        try await taker.value
        #expect(taken.withLock { $0 } == [2])
    }

    @Test("Elements sent before the end are read after it")
    func finished() async throws {
        let channel = Channel<Int>(limit: Self.limit)
        channel.post([1])
        channel.finish()
        #expect(await channel.next() == [1])
        #expect(await channel.next() == nil)
    }

    @Test("A taker gets all elements in order, whether it has room or not, and the writer gets only a little ahead")
    func forwarded() async throws {
        var generator = SeededGenerator(seed: 42)
        for round in 0..<20 {
            let channel = Channel<Int>(limit: Self.limit)
            let taken = Mutex<[Int]>([])
            let scarcity = Int.random(in: 1...9, using: &generator)
            let (slowWriter, posts) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let writer = Task {
                for number in 0..<200 {
                    if slowWriter { await Task.yield() }
                    if posts, number % 7 == 0 { channel.post([number]) } else { await channel.send([number]) }
                }
                channel.finish()
            }
            let isResting = Mutex(false)
            try await channel.forward { elements in
                #expect(!isResting.withLock { $0 }, "round \(round): the taker is not called while it has no room")
                return taken.withLock { taken in
                    taken += elements
                    return taken.count % scarcity != 0
                }
            } room: {
                isResting.withLock { $0 = true }
                for _ in 0..<5 { await Task.yield() }
                isResting.withLock { $0 = false }
            }
            #expect(taken.withLock { $0 } == Array(0..<200))
            await writer.value
        }
    }

    @Test("An error of a taker ends the reading, and the writer can continue")
    func failedTaker() async throws {
        struct Gone: Error {}
        let channel = Channel<Int>(limit: Self.limit)
        let writer = Task {
            for number in 0..<200 { await channel.send([number]) }
        }
        await #expect(throws: Gone.self) {
            try await channel.forward { _ in
                throw Gone()
            } room: {
            }
        }
        channel.abandon()
        await writer.value
    }

    @Test("A cancelled reader stops taking, and later elements wait for the next reader")
    func cancelledTaker() async throws {
        let channel = Channel<Int>(limit: Self.limit)
        let taken = Mutex<[Int]>([])
        let isTaken = Promise<Void>()
        let reader = Task {
            try await channel.forward { elements in
                taken.withLock { $0 += elements }
                isTaken.settle(())
                return true
            } room: {
            }
        }
        await channel.send([1])
        try await isTaken.value()
        reader.cancel()
        try await reader.value
        await channel.send([2])
        #expect(taken.withLock { $0 } == [1])
        #expect(await channel.next() == [2])
    }

    @Test("The end lets a waiting writer go, and elements after it are discarded")
    func late() async throws {
        let channel = Channel<Int>(limit: 1)
        let writer = Task { await channel.send([1]) }
        await waitUntil { channel.state.withLock { !$0.writers.isEmpty } }
        channel.finish()
        await writer.value
        await channel.send([2])
        #expect(await channel.next() == [1])
        #expect(await channel.next() == nil)
    }
}

/// Lets other tasks run until the condition holds.
private func waitUntil(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
