import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Failing answers", .timeLimit(.minutes(5)))
struct FailureTests {
    private func failure(
        _ script: @escaping ScriptedServer.Script, _ body: (Fixture, ChatError) throws -> Void
    ) async throws {
        try await Fixture.run {
            try script($0)
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            try body(fixture, try #require(error))
        }
    }

    @Test("An answer that fails in the middle keeps what arrived, and is not requested again")
    func midst() async throws {
        try await failure {
            try $0.stream(
                Stream.first + Stream.text("Hel") + "data: \(Stream.error("the engine broke"))\n\n" + Stream.done)
        } _: { fixture, error in
            #expect(error.kind == .serverFailed)
            #expect(error.message.contains("the engine broke"))
            #expect(fixture.heard.text == "Hel")
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("An error in a stream with an error status is reported in its own words")
    func errorStream() async throws {
        try await failure {
            try $0.reply(500, "data: \(Stream.error("no deployments left"))\n\n", type: "text/event-stream")
        } _: { _, error in
            #expect(error.kind == .serverFailed)
            #expect(error.status == 500)
            #expect(error.message.contains("no deployments left"))
        }
    }

    enum Phase: String, CaseIterable {
        case text, afterReasonWithoutEnd, insideChunk, byReset
    }

    @Test(
        "An answer is lost when the server dies after some output, and is not requested again",
        arguments: Phase.allCases)
    func died(phase: Phase) async throws {
        try await failure { connection in
            try connection.receiveRequest()
            try connection.begin()
            try connection.send(Stream.first + Stream.text("Hel"))
            switch phase {
            case .text: break
            case .afterReasonWithoutEnd: try connection.send(String(Stream.chunk("{}", finish: "\"stop\"").dropLast(2)))
            case .insideChunk: try connection.send("data: {\"id\":\"c1\",\"choices\":[{\"del")
            case .byReset:
                // The reset must not overtake the data.
                try connection.pause(.milliseconds(100))
                connection.reset()
            }
        } _: { fixture, error in
            #expect(error.kind == .streamLost)
            #expect(error.mayRetry)
            #expect(fixture.heard.text == "Hel")
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("An answer is complete when the server gave a stop reason and then just ended")
    func endWithoutMarker() async throws {
        try await Fixture.run {
            try $0.stream(Stream.first + Stream.text("Hello") + Stream.chunk("{}", finish: "\"stop\""))
        } _: { fixture in
            try await fixture.expectHello()
        }
    }

    @Test("An empty answer that ended properly is a valid answer")
    func empty() async throws {
        try await Fixture.run {
            try $0.stream(Stream.first + Stream.end)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.finish == .stop && answer.message.parts.isEmpty)
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("An answer that stalls is lost, whatever arrived before")
    func stalled() async throws {
        try await Fixture.run { setup in
            setup.limits.idle = .milliseconds(200)
        } _: { connection in
            try connection.stream(Stream.first + Stream.text("Hel"))
            try connection.stall()
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.kind == .streamLost)
            #expect(fixture.heard.text == "Hel")
        }
    }

    @Test("A server that only sends comments for a while does not fail")
    func comments() async throws {
        try await Fixture.run { setup in
            setup.limits.idle = .milliseconds(600)
        } _: { connection in
            try connection.stream(Stream.first)
            try connection.sendSlowly(Array(": OPENROUTER PROCESSING\n\n".utf8), piece: 5, pause: .milliseconds(200))
            try connection.send(Stream.text("Hello") + Stream.end)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept.isEmpty)
        }
    }

    @Test("A redirect is not followed")
    func redirect() async throws {
        try await ScriptedServer.run {
            try $0.stream(Stream.hello)
        } during: { other in
            let place = "http://127.0.0.1:\(other.port)/v1/chat/completions"
            try await failure {
                try $0.reply(307, "", headers: "Location: \(place)\r\n")
            } _: { _, error in
                #expect(error.kind == .redirected)
                #expect(error.message.contains("127.0.0.1:\(other.port)"))
            }
            // A redirect to the same server is not followed either, and is reported.
            try await failure {
                try $0.reply(307, "", headers: "Location: /v2/chat/completions\r\n")
            } _: { _, error in
                #expect(error.kind == .redirected && error.message.contains("redirects are not followed"))
                #expect(error.message.contains("check the address of the server"))
            }
            #expect(other.record.connections.isEmpty)
        }
    }

    @Test("A web page instead of an answer says what to check")
    func page() async throws {
        try await failure {
            try $0.reply(200, "<!doctype html><p>Welcome", type: "text/html")
        } _: { _, error in
            #expect(error.kind == .badAnswer)
            #expect(error.message.contains("web page"))
        }
    }

    @Test(
        "An answer with a web page in the middle is lost, whatever follows",
        arguments: ["<html>", "<!DOCTYPE html>\n<p>x"])
    func pageInMidst(page: String) async throws {
        try await failure {
            try $0.stream(
                Stream.first + Stream.text("Hel") + page + "\n<h1>502 Bad Gateway</h1>\n\n" + Stream.text("lo")
                    + Stream.end)
        } _: { fixture, error in
            #expect(error.kind == .streamLost && error.message.contains("web page"))
            #expect(fixture.heard.text == "Hello" && fixture.server.record.requests.count == 1)
        }
    }

    @Test("An unreachable server is reported at once")
    func refused() async throws {
        try await RefusingPort.run { port in
            var setup = ProviderSetup(environment: ["OPENAI_BASE_URL": "http://127.0.0.1:\(port)/v1"])
            let clock = HastyClock()
            setup.clock = clock
            let provider = try await ProviderDirectory(setup).provider(named: "openai")
            let error = await #expect(throws: ChatError.self) { try await Heard().ask(provider) }
            #expect(error?.kind == .unreachable)
            #expect(error?.exit == .unreachable)
            #expect(clock.slept.isEmpty)
            await setup.client.close()
        }
    }

    @Test("An error of the caller is passed on unchanged, and the server sees the end")
    func callersOwn() async throws {
        struct Full: Error {}
        try await Fixture.run { connection in
            try connection.stream(Stream.first + Stream.text("Hel"))
            try connection.stall()
        } _: { fixture in
            let provider = try await fixture.provider()
            await #expect(throws: Full.self) {
                try await provider.answer(.hello) { events in
                    if events.contains(.text("Hel")) { throw Full() }
                }
            }
            try await fixture.server.until { $0.connections.first?.peerLeft == true }
        }
    }
}
