import Capabilities
import CoreTesting
import Synchronization
import Testing

@testable import GatewayTurns

@Suite("Feeds")
struct FeedTests {
    private func text(_ number: Int) -> GatewayEvent { .chat(.text("\(number)")) }

    @Test("Events arrive in order, however fast reader and writer are")
    func inOrder() async throws {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<20 {
            let feed = Feed()
            let (slowWriter, slowReader) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let writer = Task {
                for number in 0..<200 {
                    if slowWriter { await Task.yield() }
                    await feed.send([text(number)])
                }
                feed.finish()
            }
            var read: [GatewayEvent] = []
            while let events = await feed.next() {
                read += events
                if slowReader { await Task.yield() }
            }
            #expect(read == (0..<200).map(text))
            await writer.value
        }
    }

    @Test("The writer gets only a little ahead of the reader")
    func backPressure() async throws {
        let feed = Feed()
        let begun = Mutex(0)
        let writer = Task {
            for number in 0..<200 {
                begun.withLock { $0 += 1 }
                await feed.send([text(number)])
            }
        }
        var read: [GatewayEvent] = []
        while read.count < 128 {
            while begun.withLock({ $0 }) < min(read.count + Feed.room, 200) { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            #expect(begun.withLock { $0 } <= read.count + Feed.room)
            read += await feed.next() ?? []
        }
        feed.hurry()
        await writer.value
        feed.finish()
        while let events = await feed.next() { read += events }
        #expect(read == (0..<200).map(text))
    }

    @Test("A cancelled reader loses no events, and an abandoned writer does not wait")
    func cancelled() async throws {
        let feed = Feed()
        let reader = Task { await feed.next() }
        reader.cancel()
        #expect(await reader.value == nil)
        await feed.send([text(1)])
        await feed.ready()
        #expect(await feed.next() == [text(1)])
        feed.abandon()
        for number in 0..<200 { await feed.send([text(number)]) }
        #expect(await feed.next() == nil)
    }

    @Test("A nudge ends a wait in ready, before and while it waits, and does not affect a taker")
    func nudged() async throws {
        let feed = Feed()
        feed.nudge()
        #expect(await feed.ready() == false)
        let waiting = Task { await feed.ready() }
        await Task.yield()
        feed.nudge()
        #expect(await waiting.value == false)
        feed.post([text(1)])
        #expect(await feed.ready())
        #expect(await feed.next() == [text(1)])
        let taken = Mutex<[GatewayEvent]>([])
        let taker = Task {
            try await feed.forward { events in
                taken.withLock { $0 += events }
                return true
            } room: {
            }
        }
        feed.nudge()
        feed.post([text(2)])
        feed.finish()
        try await taker.value
        #expect(taken.withLock { $0 } == [text(2)])
    }

    @Test("Events sent before the end are read after it")
    func finished() async throws {
        let feed = Feed()
        feed.post([text(1)])
        feed.finish()
        #expect(await feed.next() == [text(1)])
        #expect(await feed.next() == nil)
    }

    @Test("A taker gets all events in order, whether it has room or not, and the turn gets only a little ahead")
    func forwarded() async throws {
        var generator = SeededGenerator(seed: 42)
        for round in 0..<20 {
            let feed = Feed()
            let taken = Mutex<[GatewayEvent]>([])
            let scarcity = Int.random(in: 1...9, using: &generator)
            let (slowWriter, posts) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let writer = Task {
                for number in 0..<200 {
                    if slowWriter { await Task.yield() }
                    if posts, number % 7 == 0 { feed.post([text(number)]) } else { await feed.send([text(number)]) }
                }
                feed.finish()
            }
            let isResting = Mutex(false)
            try await feed.forward { events in
                #expect(!isResting.withLock { $0 }, "round \(round): nothing comes while there is no room")
                return taken.withLock { taken in
                    taken += events
                    return taken.count % scarcity != 0
                }
            } room: {
                isResting.withLock { $0 = true }
                for _ in 0..<5 { await Task.yield() }
                isResting.withLock { $0 = false }
            }
            #expect(taken.withLock { $0 } == (0..<200).map(text))
            await writer.value
        }
    }

    @Test("An error of a taker ends the reading, and the turn can continue")
    func failedTaker() async throws {
        struct Gone: Error {}
        let feed = Feed()
        let writer = Task {
            for number in 0..<200 { await feed.send([text(number)]) }
        }
        await #expect(throws: Gone.self) {
            try await feed.forward { _ in
                throw Gone()
            } room: {
            }
        }
        feed.abandon()
        await writer.value
    }

    @Test("A cancelled reader stops taking, and later events wait for the next reader")
    func cancelledTaker() async throws {
        let feed = Feed()
        let taken = Mutex<[GatewayEvent]>([])
        let (first, isTaken) = (text(1), Promise<Void>())
        let reader = Task {
            try await feed.forward { events in
                taken.withLock { $0 += events }
                isTaken.settle(())
                return true
            } room: {
            }
        }
        await feed.send([first])
        try await isTaken.value()
        reader.cancel()
        try await reader.value
        await feed.send([text(2)])
        #expect(taken.withLock { $0 } == [first])
        #expect(await feed.next() == [text(2)])
    }
}
