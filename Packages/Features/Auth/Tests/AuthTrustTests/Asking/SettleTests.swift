import AuthTrust
import Capabilities
import CoreTesting
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Testing

@Suite("Concurrent questions about a certificate", .timeLimit(.minutes(5)))
struct SettleTests {
    private static let count = 50

    /// The results of requests that were sent concurrently.
    private func outcomes(_ bench: Bench, _ port: Int, _ count: Int = count) async -> [Result<String, AnyFailure>] {
        await withTaskGroup(of: Result<String, AnyFailure>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do { return .success(try await bench.get(port).text) } catch { return .failure(AnyFailure(error)) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("Fifty concurrent requests ask once, and a yes lets all of them continue")
    func yes() async throws {
        let person = ScriptedPerson(says: true)
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                let outcomes = await bench.asAction(by: person) { await self.outcomes(bench, server.port) }
                #expect(outcomes.allSatisfy { (try? $0.get()) == "hi" })
                #expect(person.questions.count == 1 && bench.notices.count == 1)
                #expect(server.record.requests.count == Self.count)
            }
        }
    }

    @Test("The question about a certificate is a span with the decision", arguments: [true, false])
    func span(says yes: Bool) async throws {
        let sink = RecordingSpanSink()
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                await bench.asAction(by: ScriptedPerson(says: yes)) {
                    await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                        _ = await self.outcomes(bench, server.port, 1)
                    }
                }
                let settled = try #require(sink.spans.first { $0.name == "trust.settle" })
                #expect(settled.attributes["martlet.decision"] == (yes ? "trusted" : "declined"))
                #expect(settled.attributes["server.port"] == .int(server.port))
                #expect(settled.failure == (yes ? nil : "auth.certificate-unknown"))
                let asked = sink.spans.first { $0.name == "question auth.trust" }
                #expect(asked?.parent == settled.context.span)
            }
        }
    }

    @Test("A no answers all of them")
    func no() async throws {
        // The person answers once all requests have been refused.
        let door = Promise<Void>()
        let person = ScriptedPerson(
            otherwise: .answers { _ in
                try await door.value()
                return .confirm(false)
            })
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                async let all = bench.asAction(by: person) { await self.outcomes(bench, server.port) }
                try await server.until { $0.connections.count == Self.count && $0.openNow == 0 }
                // A refused request asks at once, but the last ones may not have asked yet. One that asks later gets
                // another no.
                door.settle(())
                let codes = await all.map { outcome -> String in
                    if case .failure(let failure) = outcome { failure.code } else { "accepted" }
                }
                #expect(codes == Array(repeating: "auth.certificate-unknown", count: Self.count))
                #expect(person.questions.count <= 3)
                #expect(server.record.requests.isEmpty && server.record.bytesReceived == 0)
                #expect(try await bench.pins.all().isEmpty)
            }
        }
    }

    @Test("Without a terminal, all of them fail with the same command")
    func headless() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                let outcomes = await self.outcomes(bench, server.port, 10)
                let commands = outcomes.map { outcome -> String? in
                    if case .failure(let failure) = outcome { failure.details["command"]?.string } else { nil }
                }
                let fingerprint = Fingerprint.text(all.selfSigned.certificate.fingerprint)
                let command = "martlet auth trust add 127.0.0.1:\(server.port) --fingerprint \(fingerprint)"
                #expect(commands == Array(repeating: command, count: 10))
            }
        }
    }

    @Test("A cancelled question does not answer the next request, which asks again")
    func cancelledAsker() async throws {
        let all = try TestCertificates.shared()
        let door = Promise<Void>()
        let waiting = ScriptedPerson(
            otherwise: .answers { _ in
                try await door.value()
                return .confirm(true)
            })
        let next = ScriptedPerson(says: true)
        let shown = PresentedCertificate.of(all.selfSigned, [.selfSigned])
        try await Bench.run { bench in
            let first = Task { try await bench.asAction(by: waiting) { try await bench.trust.settle(shown) } }
            await waiting.wasAsked()
            async let second: Void = bench.asAction(by: next) { try await bench.trust.settle(shown) }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            try await second
            #expect(next.questions.count == 1 && waiting.questions.count == 1)
            #expect(try await bench.pins.all().count == 1)
        }
    }

    @Test("A request that is cancelled while it waits ends at once and never asks")
    func cancelledWaiter() async throws {
        let all = try TestCertificates.shared()
        let door = Promise<Void>()
        let first = ScriptedPerson(
            otherwise: .answers { _ in
                try await door.value()
                return .confirm(false)
            })
        // The third one comes before the first has answered, or is asked after it: in both cases the answer is no.
        let (second, third) = (ScriptedPerson(says: true), ScriptedPerson(says: false))
        let shown = PresentedCertificate.of(all.selfSigned, [.selfSigned])
        try await Bench.run { bench in
            let asking = Task { try await bench.asAction(by: first) { try await bench.trust.settle(shown) } }
            await first.wasAsked()
            let waiting = Task { try await bench.asAction(by: second) { try await bench.trust.settle(shown) } }
            waiting.cancel()
            // The person has not answered yet, but this request has ended.
            await #expect(throws: CancellationError.self) { try await waiting.value }
            // A request that comes now waits for the person's first answer, or asks after it.
            let last = Task { try await bench.asAction(by: third) { try await bench.trust.settle(shown) } }
            door.settle(())
            await #expect(throws: TrustError.self) { try await asking.value }
            await #expect(throws: TrustError.self) { try await last.value }
            #expect(second.questions.isEmpty)
            let pins = try await bench.pins.all()
            #expect(pins.isEmpty)
        }
    }

    @Test("A request that was cancelled while it waited is skipped")
    func passedOver() async throws {
        let all = try TestCertificates.shared()
        let door = Promise<Void>()
        let first = ScriptedPerson(
            otherwise: .answers { _ in
                try await door.value()
                return .confirm(true)
            })
        let (second, third) = (ScriptedPerson(says: true), ScriptedPerson(says: true))
        let shown = PresentedCertificate.of(all.selfSigned, [.selfSigned])
        try await Bench.run { bench in
            let asking = Task { try await bench.asAction(by: first) { try await bench.trust.settle(shown) } }
            await first.wasAsked()
            let waiting = Task { try await bench.asAction(by: second) { try await bench.trust.settle(shown) } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            try await bench.asAction(by: third) { try await bench.trust.settle(shown) }
            #expect(second.questions.isEmpty && third.questions.count == 1)
        }
    }

    @Test("Two servers cause two concurrent questions")
    func two() async throws {
        let all = try TestCertificates.shared()
        let door = Promise<Void>()
        let person = ScriptedPerson(
            otherwise: .answers { _ in
                try await door.value()
                return .confirm(true)
            })
        let other = ScriptedPerson(says: true)
        try await Bench.run { bench in
            async let first: Void = bench.asAction(by: person) {
                try await bench.trust.settle(.of(all.selfSigned, port: 1, [.selfSigned]))
            }
            await person.wasAsked()
            try await bench.asAction(by: other) {
                try await bench.trust.settle(.of(all.selfSigned, port: 2, [.selfSigned]))
            }
            door.settle(())
            try await first
            #expect(try await bench.pins.all().map(\.server.port) == [1, 2])
        }
    }

    @Test("A certificate that was accepted meanwhile is not asked about")
    func meanwhile() async throws {
        let all = try TestCertificates.shared()
        let person = ScriptedPerson(says: false)
        try await Bench.run { bench in
            try await bench.pin(all.selfSigned, port: 443)
            try await bench.asAction(by: person) { try await bench.trust.settle(.of(all.selfSigned, [.selfSigned])) }
            #expect(person.questions.isEmpty)
        }
    }

    @Test("The command uses the program name that the user typed")
    func program() async throws {
        let all = try TestCertificates.shared()
        let error = TrustError.untrusted(.of(all.selfSigned, [.selfSigned]), .unknown, program: "mybench")
        #expect(error.details["command"]?.string?.hasPrefix("mybench auth trust add 127.0.0.1:443 ") == true)
        #expect(error.message.contains("mybench auth trust add"))
    }
}
