//# secret
import HostTesting
import JSON
import Testing

@testable import Weather

@Test("The doctor says whether the key is stored", .timeLimit(.minutes(1)))
func key() async throws {
    try await TestWorkbench.run([WeatherFeature.self]) { bench in
        let missing = try await bench.attempt("doctor").json.text()
        #expect(missing.contains("auth secret set weather"))
        bench.environment["WEATHER_API_KEY"] = "a-secret-key"
        let found = try await bench.attempt("doctor").json.text()
        #expect(!found.contains("auth secret set weather"))
    }
}
//#
