import CoreTesting
import JSON
import Registry
import Testing

@testable import Weather

@Test("greets in the tone that was asked for", arguments: [("friendly", "Hello Ada!"), ("formal", "Good day, Ada.")])
func greetsInTone(_ tone: String, _ text: String) async throws {
    let host = try TestHost([WeatherFeature.self])
    let greeting = try await host.perform("weather.greet", ["name": "Ada", "tone": .string(tone)])
    #expect(greeting == ["name": "Ada", "text": .string(text)])
}

@Test("greets as the settings say when no tone was asked for")
func greetsAsTheSettingsSay() async throws {
    let host = try TestHost([WeatherFeature.self], settings: #"{"weather": {"tone": "formal"}}"#)
    #expect(try await host.perform("weather.greet", ["name": "Ada"])["text"] == "Good day, Ada.")
}

@Test("an unknown tone is refused")
func refusesUnknownTone() async throws {
    let host = try TestHost([WeatherFeature.self])
    await #expect(throws: ArgumentsFailure.self) {
        try await host.perform("weather.greet", ["name": "Ada", "tone": "gruff"])
    }
}

@Test("keeps the rules of every feature", .timeLimit(.minutes(1)))
func conforms() async throws {
    #expect(try await FeatureConformance.violations(of: WeatherFeature.self).isEmpty)
}
