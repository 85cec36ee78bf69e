import CoreTesting
import Settings
import Testing

@testable import Registry

@Suite("FeatureStates", .timeLimit(.minutes(5)))
struct StatesTests {
    @Test("Changes to degraded, ok and failed are reported as they happen")
    func changes() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Moody>.self])
        var changes = stage.lifecycle.states.changes().makeAsyncIterator()
        await stage.lifecycle.start()
        var seen: [FeatureState] = []
        for door in ["", "worse", "better", "break"] {
            stage.journal.door(door).open()
            if let change = await changes.next() { seen.append(change.state) }
            if door.isEmpty, let change = await changes.next() { seen.append(change.state) }
        }
        #expect(seen == [.starting, .ok, .degraded("no answer; trying again"), .ok, .failed("it broke")])
        await stage.lifecycle.stop()
    }

    @Test("Changes reach every observer")
    func listeners() async throws {
        let stage = try Stage([Runner<Alpha, Alpha, Steady>.self])
        let streams = [stage.lifecycle.states.changes(), stage.lifecycle.states.changes()]
        await stage.lifecycle.start()
        for stream in streams {
            for await change in stream where change.state == .ok {
                #expect(change.feature == "alpha")
                break
            }
        }
        await stage.lifecycle.stop()
    }

    @Test("Changes are reported in order, whoever makes them")
    func order() async {
        let states = FeatureStates()
        let changes = states.changes()
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for step in 0..<500 { states.set("alpha", .degraded("\(writer).\(step)")) }
                }
            }
        }
        states.set("beta", .ok)
        var last: FeatureState?
        for await change in changes {
            if change.feature == "beta" { break }
            last = change.state
        }
        #expect(last == states["alpha"])
    }

    @Test("Features that are off or could not be created have a reason before anything is started")
    func beforeStart() throws {
        struct Broken: PlainFeature {
            static let manifest = Manifest(id: "broken", summary: "Breaks", version: "1")
            init() {}
            init(_ settings: FeatureSettings) throws { throw DemoFailure() }
        }
        let stage = try Stage(
            [Source<Alpha>.self, Source<Beta>.self, Broken.self], settings: "{features: {beta: false}}")
        #expect(stage.state("alpha") == .ok)
        #expect(stage.state("beta").word == "off")
        #expect(stage.state("beta").reason?.hasPrefix("switched off") == true)
        #expect(stage.state("broken") == .failed("cannot be created: it broke"))
        #expect(stage.state("nobody") == .stopped)
        #expect(stage.lifecycle.states.known("nobody") == nil)
    }

    @Test(
        "Each state has a word, and a reason if there is one",
        arguments: [
            (.off("x"), "off", "x"), (.starting, "starting", nil), (.ok, "ok", nil), (.degraded("x"), "degraded", "x"),
            (.failed("x"), "failed", "x"), (.stopping, "stopping", nil), (.stopped, "stopped", nil),
        ] as [(FeatureState, String, String?)])
    func words(state: FeatureState, word: String, reason: String?) {
        #expect(state.word == word)
        #expect(state.reason == reason)
    }
}
