//# background
import CoreTesting
import HostTesting
import JSON
import Testing

@testable import Weather

@Test("The minutes of a session are counted", .timeLimit(.minutes(1)))
func minutes() async throws {
    let clock = TestClock()
    try await TestWorkbench.run([WeatherFeature.self]) { bench in
        bench.clock = clock
        try await bench.open { session in
            let before = try await session.perform("weather.minutes")
            #expect(before.json == 0)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
            // It sleeps again once it has counted.
            await clock.waitForSleepers()
            let after = try await session.perform("weather.minutes")
            #expect(after.json == 1)
        }
    }
}
//#
