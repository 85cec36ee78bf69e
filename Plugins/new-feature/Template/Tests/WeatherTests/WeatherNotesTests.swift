//# storage
import HostTesting
import JSON
import Testing

@testable import Weather

@Test("Notes are kept for the next command, the newest first", .timeLimit(.minutes(1)))
func notes() async throws {
    try await TestWorkbench.run([WeatherFeature.self]) { bench in
        let none = try await bench.perform("weather.notes")
        #expect(none.notices.contains("there are no notes"))
        for text in ["Rain", "Sun"] { try await bench.perform("weather.note", ["text": .string(text)]) }
        let notes = try await bench.perform("weather.notes").json.array
        #expect(notes?.map { $0["text"] } == ["Sun", "Rain"])
    }
}
//#
