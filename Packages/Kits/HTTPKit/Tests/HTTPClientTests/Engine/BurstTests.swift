import Testing

@testable import HTTPClient

@Suite("A burst of small pieces") struct BurstTests {
    private func burst(of turns: Int) -> Burst {
        var burst = Burst()
        for _ in 0..<turns { burst.turn(brought: 200, waited: 3_000) }
        return burst
    }

    @Test("is one after some that came at once, not before")
    func begins() {
        #expect(!burst(of: Burst.turns - 1).isOn)
        #expect(burst(of: Burst.turns).isOn)
    }

    @Test("outlasts one turn that is late, and ends with the next, however long it was")
    func ends() {
        var burst = burst(of: 10_000)
        burst.turn(brought: 200, waited: Burst.pause)
        #expect(burst.isOn)
        burst.turn(brought: 0, waited: 0)
        #expect(!burst.isOn)
    }

    @Test(
        "is not one with large pieces, with pauses, or with nothing in it",
        arguments: [(Burst.large, 0), (1, Burst.pause), (0, 0)] as [(Int, Int64)])
    func others(bytes: Int, waited: Int64) {
        var burst = Burst()
        for _ in 0..<100 { burst.turn(brought: bytes, waited: waited) }
        #expect(!burst.isOn)
    }

    @Test("goes on with what a rest brought together, and ends where that is a download")
    func rests() {
        var burst = burst(of: 10_000)
        for _ in 0..<100 { burst.turn(brought: Burst.most - 1, waited: 0) }
        #expect(burst.isOn)
        for _ in 0..<2 { burst.turn(brought: Burst.most, waited: 0) }
        #expect(!burst.isOn)
    }
}
