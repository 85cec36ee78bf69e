import Capabilities
import CoreTesting
import Testing

@Test("A stopwatch measures the time since it was made")
func stopwatch() {
    let clock = TestClock()
    clock.advance(by: .seconds(5))
    let stopwatch = Stopwatch(clock)
    #expect(stopwatch.time() == .zero)
    clock.advance(by: .milliseconds(1500))
    #expect(stopwatch.time() == .milliseconds(1500))
}
