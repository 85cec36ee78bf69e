//# screen
import CoreTesting
//# screen&secret
import HostKit
//# screen
import JSON
import Registry
import Screens
import Testing

@testable import Weather

@Test("The card shows the greeting", .timeLimit(.minutes(1)))
func card() async throws {
    //# screen&!secret
    let host = try TestHost([WeatherFeature.self])
    //# screen&secret
    let host = try TestHost([HostFeature.self, WeatherFeature.self])
    //# screen
    let block = try await host.open("weather.card", ["name": "Ada"]) { screen in try await screen.block() }
    #expect(block.content == .text(RichText("Hello Ada!", bold: true)))
}
//#
