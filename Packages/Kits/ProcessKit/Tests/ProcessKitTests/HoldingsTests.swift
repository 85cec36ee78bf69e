import ProcessKit
import Testing

@Suite("Holdings")
struct HoldingsTests {
    @Test("A thing is free when its store gives it back, but held for other stores while the process lives")
    func stores() {
        let (mine, other) = (Holdings(), Holdings())
        let holder = mine.holder
        #expect(!mine.isHeld("a", by: holder))
        mine.take("a")
        #expect(mine.isHeld("a", by: holder) && !mine.isHeld("b", by: holder))
        #expect(mine.process(holding: "a", by: holder) == ProcessIdentity.own.process)
        mine.giveBack("a")
        #expect(!mine.isHeld("a", by: holder))
        #expect(other.isHeld("a", by: holder))
    }

    @Test("A thing is given back once, by giveBack() or when its Hold is deallocated")
    func holds() {
        let mine = Holdings()
        var hold: Holdings.Hold? = mine.hold("a")
        #expect(mine.isHeld("a", by: mine.holder))
        hold?.giveBack()
        #expect(!mine.isHeld("a", by: mine.holder))
        // The first hold is deallocated after a second hold has taken the thing.
        let next = mine.hold("a")
        hold = nil
        #expect(mine.isHeld("a", by: mine.holder))
        withExtendedLifetime(next) {}
        _ = hold
        var last: Holdings.Hold? = mine.hold("b")
        #expect(mine.isHeld("b", by: mine.holder) && last != nil)
        last = nil
        #expect(!mine.isHeld("b", by: mine.holder))
    }

    @Test("A holder without a store counts while its process lives, and an ended or unreadable holder does not")
    func older() {
        let mine = Holdings()
        #expect(mine.isHeld("a", by: ProcessIdentity.own.text))
        let fields = ProcessIdentity.own.text.split(separator: "/")
        for ended in ["\(fields[0])/\(fields[1])/1", "other-boot/\(fields[1])/\(fields[2])"] {
            #expect(!mine.isHeld("a", by: ended))
            #expect(!mine.isHeld("a", by: ended + "/store"))
        }
        for wrong in [nil, "", "/", "x", "a/b/c/d", "a/b/c/d/e"] as [String?] {
            #expect(!mine.isHeld("a", by: wrong))
        }
    }
}
