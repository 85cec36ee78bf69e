import CoreTesting
import JSON
import Registry
import Testing

@testable import Weather

@Test("The greeting has the requested tone", arguments: [("friendly", "Hello Ada!"), ("formal", "Good day, Ada.")])
func greetsInTone(_ tone: String, _ text: String) async throws {
    let host = try TestHost([WeatherFeature.self])
    let greeting = try await host.perform("weather.greet", ["name": "Ada", "tone": .string(tone)])
    #expect(greeting == ["name": "Ada", "text": .string(text)])
}

@Test("Without a requested tone, the greeting has the tone of the settings")
func greetsAsTheSettingsSay() async throws {
    let host = try TestHost([WeatherFeature.self], settings: #"{"weather": {"tone": "formal"}}"#)
    #expect(try await host.perform("weather.greet", ["name": "Ada"])["text"] == "Good day, Ada.")
}

@Test("An unknown tone is refused")
func refusesUnknownTone() async throws {
    let host = try TestHost([WeatherFeature.self])
    await #expect(throws: ArgumentsFailure.self) {
        try await host.perform("weather.greet", ["name": "Ada", "tone": "gruff"])
    }
}

@Test("The feature keeps the rules of every feature", .timeLimit(.minutes(1)))
func conforms() async throws {
    #expect(try await FeatureConformance.violations(of: WeatherFeature.self).isEmpty)
}
