import Testing

@testable import HTTPClient

@Suite("A burst of small pieces") struct BurstTests {
    private func burst(of turns: Int) -> Burst {
        var burst = Burst()
        for _ in 0..<turns { burst.turn(brought: 200, waited: 3_000) }
        return burst
    }

    @Test("a burst begins only after several pieces that arrived at once")
    func begins() {
        #expect(!burst(of: Burst.turns - 1).isOn)
        #expect(burst(of: Burst.turns).isOn)
    }

    @Test("a burst outlasts one late turn and ends with the next, however long it was")
    func ends() {
        var burst = burst(of: 10_000)
        burst.turn(brought: 200, waited: Burst.pause)
        #expect(burst.isOn)
        burst.turn(brought: 0, waited: 0)
        #expect(!burst.isOn)
    }

    @Test(
        "large pieces, pauses or empty turns are not a burst",
        arguments: [(Burst.large, 0), (1, Burst.pause), (0, 0)] as [(Int, Int64)])
    func others(bytes: Int, waited: Int64) {
        var burst = Burst()
        for _ in 0..<100 { burst.turn(brought: bytes, waited: waited) }
        #expect(!burst.isOn)
    }

    @Test("a burst continues with the bytes of a rest, and ends when they are a download")
    func rests() {
        var burst = burst(of: 10_000)
        for _ in 0..<100 { burst.turn(brought: Burst.most - 1, waited: 0) }
        #expect(burst.isOn)
        for _ in 0..<2 { burst.turn(brought: Burst.most, waited: 0) }
        #expect(!burst.isOn)
    }
}
