import CoreTesting
//# http
import HTTPTesting
//# http|storage|secret|background
import HostKit
//#
import JSON
import Testing

@testable import Weather

@Test("A greeting begins with the word of the settings", arguments: ["Hello", "Good day"])
func greets(word: String) async throws {
    //# !secret
    let host = try TestHost([WeatherFeature.self], settings: #"{"weather": {"greeting": "\#(word)"}}"#)
    //# secret
    let host = try TestHost(
        [HostFeature.self, WeatherFeature.self], settings: #"{"weather": {"greeting": "\#(word)"}}"#)
    //#
    #expect(try await host.perform("weather.greet", ["name": "Ada"]).string == "\(word) Ada!")
}

//# !http&!storage&!secret&!background
@Test("The feature keeps the rules of every feature", .timeLimit(.minutes(1)))
func conforms() async throws {
    #expect(try await FeatureConformance.violations(of: WeatherFeature.self).isEmpty)
}
//# http|storage|secret|background
@Test("The feature keeps the rules of every feature", .timeLimit(.minutes(5)))
func conforms() async {
    // In a process of its own, because descriptors and children are counted.
    await #expect(processExitsWith: .success) {
        //# http
        try await ScriptedServer.run(WeatherServerTests.answering(#"{"degrees": 21}"#)) { server in
            try await TemporaryDirectory.run { folder in
                let violations = try await FeatureConformance.violations(
                    of: WeatherFeature.self, with: [HostFeature.self], in: folder,
                    settings: "{weather: {server: 'http://127.0.0.1:\(server.port)'}}", lasting: ["weather.watch"])
                #expect(violations.isEmpty, "\(violations)")
            }
        }
        //# !http&storage|!http&secret|!http&background
        try await TemporaryDirectory.run { folder in
            let violations = try await FeatureConformance.violations(
                of: WeatherFeature.self, with: [HostFeature.self], in: folder)
            #expect(violations.isEmpty, "\(violations)")
        }
        //# http|storage|secret|background
    }
}
//#
