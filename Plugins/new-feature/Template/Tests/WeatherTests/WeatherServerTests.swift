//# http
import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Weather

@Suite("Weather server", .timeLimit(.minutes(1)))
struct WeatherServerTests {
    /// A server that answers every request with a text.
    static func answering(_ text: String) -> ScriptedServer.Script {
        { connection in
            try connection.receiveRequest()
            try connection.answer(200, ["Content-Type": "application/json"], text)
        }
    }

    /// Lends a workbench whose server is 21 °C warm.
    private func run(
        _ answer: String = #"{"degrees": 21}"#, _ body: (inout TestWorkbench, ScriptedServer) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(Self.answering(answer)) { server in
            try await TestWorkbench.run([WeatherFeature.self]) { bench in
                bench.settings = "{weather: {server: 'http://127.0.0.1:\(server.port)'}}"
                try await body(&bench, server)
            }
        }
    }

    @Test("The weather of a city is shown")
    func now() async throws {
        try await run { bench, server in
            let now = try await bench.perform("weather.now", ["city": "St. Gallen"])
            #expect(now["degrees"]?.double == 21)
            #expect(server.record.requests.map(\.target) == ["/St.%20Gallen"])
        }
    }

    @Test("An answer without degrees is an error that says what to check")
    func unreadable() async throws {
        try await run("{}") { bench, _ in
            let failure = try await bench.failure("weather.now", ["city": "Bern"])
            #expect(failure?.code == "weather.unreadable" && failure?.message.contains("weather.server") == true)
        }
    }

    @Test("Watching sends an event for each reading, a minute apart")
    func watch() async throws {
        let clock = TestClock()
        try await run { bench, _ in
            bench.clock = clock
            let output = RecordingOutput()
            try await bench.open { session in
                async let done = session.perform("weather.watch", ["city": "Bern", "times": 2], to: output)
                await output.wait { $0.count == 1 }
                await clock.waitForSleepers()
                clock.advance(by: .seconds(60))
                let readings = try await done
                #expect(readings.json == 2)
            }
            #expect(output.events.map(\.type) == ["weather", "weather"] && output.text == "21.0 °C\n21.0 °C\n")
        }
    }
    //# http&secret

    @Test("The key is sent, and the doctor says whether there is one")
    func key() async throws {
        try await run { bench, server in
            let missing = try await bench.attempt("doctor").json.text()
            #expect(missing.contains("not stored"))
            bench.environment["WEATHER_API_KEY"] = "a-secret-key"
            try await bench.perform("weather.now", ["city": "Bern"])
            #expect(server.record.requests.last?.headers["X-Key"] == "a-secret-key")
            let found = try await bench.attempt("doctor").json.text()
            #expect(!found.contains("not stored"))
        }
    }
    //# http
}
//#
