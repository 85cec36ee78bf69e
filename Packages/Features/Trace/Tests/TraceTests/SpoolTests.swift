import Capabilities
import CoreTesting
import FileKit
import JSON
import Testing
import TraceStore

@Suite("Spans on their way to the database", .timeLimit(.minutes(5)))
struct SpoolTests {
    private func record(_ names: String..., on tracer: Tracer) async {
        for name in names { await tracer.span(name, of: "demo") { _ in } }
    }

    @Test("What a process has recorded is found after it has ended, and nothing of it is left in its file")
    func whole() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            await record("a", "b", on: lab.tracer(spool))
            await spool.close()
            #expect(try await lab.names() == ["a", "b"])
            #expect(try Files.list("\(lab.folder)/spool").isEmpty)
            #expect(try Files.info("\(lab.folder)/trace.db").mode == 0o600)
            let (traces, total) = try await lab.store.traces(TraceQuery())
            #expect(total == 2 && traces.map(\.name) == ["b", "a"] && traces.allSatisfy { $0.service == "p" })
        }
    }

    @Test("A process that records nothing opens nothing")
    func idle() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            await lab.tracer(spool).span("trace.list", of: "trace") { _ in }
            await spool.close()
            #expect(spool.problem == nil)
            #expect(!Files.exists("\(lab.folder)/spool") && !Files.exists("\(lab.folder)/trace.db"))
            #expect(lab.store.isEmpty)
            #expect(try await lab.store.traces(TraceQuery()).total == 0)
            #expect(try await lab.store.lost(since: nil) == 0)
        }
    }

    @Test("What a running process has recorded can be read, and it goes on with another file")
    func running() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            let tracer = lab.tracer(spool)
            await record("a", on: tracer)
            spool.flush()
            #expect(try await lab.names() == ["a"])
            await record("b", on: tracer)
            await spool.close()
            #expect(try await lab.names() == ["a", "b"])
        }
    }

    @Test("Many processes at once lose nothing, while somebody reads all the time")
    func many() async throws {
        try await StoreLab.run { (lab) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let spool = lab.spool("p\(number)")
                        let tracer = lab.tracer(spool)
                        for round in 0..<20 {
                            await tracer.span("\(number)-\(round)", of: "demo") { _ in }
                            spool.flush()
                        }
                        await spool.close()
                    }
                }
                for _ in 0..<10 { try await lab.store.takeSpools() }
                try await group.waitForAll()
            }
            let names = try await lab.names()
            #expect(names.count == 400 && Set(names).count == 400)
        }
    }

    @Test("Of too many spans those that failed are kept, and the rest is counted")
    func rate() async throws {
        try await StoreLab.run { (lab) async throws in
            var limits = SpanSpool.Limits()
            limits.rate = 10
            let spool = lab.spool("p", limits)
            let tracer = lab.tracer(spool)
            for number in 0..<30 {
                await tracer.span("s\(number)", of: "demo") { if number >= 26 { $0.fail("demo.failed") } }
            }
            await spool.close()
            let names = try await lab.names()
            #expect(names.count == 10 && (26..<30).allSatisfy { names.contains("s\($0)") })
            #expect(try await lab.store.lost(since: nil) == 20)
        }
    }

    @Test("No secret reaches a file, also one that became known after the span began")
    func secrets() async throws {
        try await StoreLab.run { (lab) async throws in
            let redactor = Redactor()
            let spool = lab.spool(without: redactor)
            await lab.tracer(spool).span("ask hunter2hunter2", of: "demo") { span in
                span.set("key", "hunter2hunter2")
                span.happened("saw hunter2hunter2")
                redactor.learn(Secret("hunter2hunter2"))
            }
            spool.flush()
            let path = "\(lab.folder)/spool/p.ndjson"
            let text = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
            #expect(text.contains("‹redacted›") && !text.contains("hunter2"))
            #expect(try Files.info(path).mode == 0o600)
            await spool.close()
        }
    }

    @Test("A line that a killed process has left half loses itself only, and so does what is no span")
    func half() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            await record("a", "b", on: lab.tracer(spool))
            spool.flush()
            await spool.close()
            let path = "\(lab.folder)/spool/p.ndjson"
            let bytes = try Files.read(path, limit: 1 << 20)
            let rubbish = Array("\u{0}\u{1}rubbish\n{\"resource\":5}\n{}\n[]\n\n".utf8)
            try Files.writeAtomically(rubbish + bytes + bytes.dropLast(20).suffix(60), to: path)
            #expect(try await lab.names() == ["a", "b"])
        }
    }

    @Test("A folder that cannot be written to is told of, and work goes on")
    func refused() async throws {
        try await StoreLab.run { (lab) async throws in
            try Files.writeAtomically([], to: "\(lab.folder)/spool")
            let spool = lab.spool()
            let tracer = lab.tracer(spool)
            await record("a", on: tracer)
            spool.flush()
            #expect(spool.problem != nil)
            // What could not be written is counted as soon as something can be.
            try Files.remove("\(lab.folder)/spool")
            await record("b", on: tracer)
            await spool.close()
            #expect(try await lab.names() == ["b"] && spool.problem == nil)
            #expect(try await lab.store.lost(since: nil) == 1)
        }
    }

    @Test(
        "A process that finds too many files at its end has them taken, and one with too much in its file while it runs"
    )
    func relieved() async throws {
        try await StoreLab.run { (lab) async throws in
            var limits = SpanSpool.Limits()
            limits.files = 3
            for number in 0..<3 {
                let spool = lab.spool("p\(number)", limits)
                await record("a\(number)", on: lab.tracer(spool))
                await spool.close()
            }
            #expect(try Files.list("\(lab.folder)/spool").count == 3)
            let spool = lab.spool("last", limits)
            await record("b", on: lab.tracer(spool))
            await spool.close()
            #expect(try Files.list("\(lab.folder)/spool").isEmpty)

            limits.bytes = 1
            let clock = TestClock()
            let lasting = lab.spool("lasting", limits, clock: clock)
            await record("c", on: lab.tracer(lasting))
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            // The writer sleeps again once it has done both.
            await clock.waitForSleepers(1)
            #expect(try Files.list("\(lab.folder)/spool").isEmpty)
            await lasting.close()
            #expect(try await lab.names() == ["a0", "a1", "a2", "b", "c"])
        }
    }

    @Test("Taking the same file twice, as after a crash between the database and the file, adds nothing twice")
    func twice() async throws {
        try await StoreLab.run { (lab) async throws in
            let spool = lab.spool()
            await record("a", on: lab.tracer(spool))
            spool.flush()
            let bytes = try Files.read("\(lab.folder)/spool/p.ndjson", limit: 1 << 20)
            #expect(try await lab.names() == ["a"])
            try Files.writeAtomically(bytes, to: "\(lab.folder)/spool/p.ndjson.taken-1")
            #expect(try await lab.names() == ["a"])
            #expect(try await lab.store.traces(TraceQuery()).traces.map(\.spans) == [1])
            await spool.close()
        }
    }
}
