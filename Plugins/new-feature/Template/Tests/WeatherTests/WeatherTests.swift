import CoreTesting
import JSON
import Testing

@testable import Weather

@Test("A greeting begins with the word of the settings", arguments: ["Hello", "Good day"])
func greets(word: String) async throws {
    let host = try TestHost([WeatherFeature.self], settings: #"{"weather": {"greeting": "\#(word)"}}"#)
    #expect(try await host.perform("weather.greet", ["name": "Ada"]).string == "\(word) Ada!")
}

@Test("The feature keeps the rules of every feature", .timeLimit(.minutes(1)))
func conforms() async throws {
    #expect(try await FeatureConformance.violations(of: WeatherFeature.self).isEmpty)
}
