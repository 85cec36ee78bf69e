import Testing

@testable import HTTPClient

@Suite("Bursts of small pieces") struct BurstTests {
    private func burst(of turns: Int) -> Burst {
        var burst = Burst()
        for _ in 0..<turns { burst.turn(brought: 200, waited: 3_000) }
        return burst
    }

    @Test("A burst starts only after several pieces that arrived at once")
    func begins() {
        #expect(!burst(of: Burst.turns - 1).isOn)
        #expect(burst(of: Burst.turns).isOn)
    }

    @Test("A burst survives one late turn and ends with the second, however long it has lasted")
    func ends() {
        var burst = burst(of: 10_000)
        burst.turn(brought: 200, waited: Burst.pause)
        #expect(burst.isOn)
        burst.turn(brought: 0, waited: 0)
        #expect(!burst.isOn)
    }

    @Test(
        "Large pieces, pauses and empty turns are not a burst",
        arguments: [(Burst.large, 0), (1, Burst.pause), (0, 0)] as [(Int, Int64)])
    func others(bytes: Int, waited: Int64) {
        var burst = Burst()
        for _ in 0..<100 { burst.turn(brought: bytes, waited: waited) }
        #expect(!burst.isOn)
    }

    @Test("A burst continues with the bytes of a rest, and ends when they amount to a download")
    func rests() {
        var burst = burst(of: 10_000)
        for _ in 0..<100 { burst.turn(brought: Burst.most - 1, waited: 0) }
        #expect(burst.isOn)
        for _ in 0..<2 { burst.turn(brought: Burst.most, waited: 0) }
        #expect(!burst.isOn)
    }
}
