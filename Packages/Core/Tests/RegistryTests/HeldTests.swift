import Registry
import Testing

@Suite("What a feature holds")
struct HeldTests {
    private struct Value {
        let held = Held<String>()
    }

    @Test("what one copy of a feature made is there in all others")
    func copies() {
        let first = Value()
        let copy = first
        #expect(copy.held.value == nil)
        first.held.hold("made")
        #expect(copy.held.value == "made")
        copy.held.hold("made anew")
        #expect(first.held.value == "made anew")
    }
}
