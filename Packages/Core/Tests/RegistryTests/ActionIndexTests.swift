import Capabilities
import Registry
import Testing

/// A feature that registers a list of actions.
private protocol ActionList: PlainFeature { static var actions: [Action] { get } }

extension ActionList {
    func register(in registry: inout RegistryBuilder) { for action in Self.actions { registry.add(action) } }
}

private func action(_ id: String) -> Action { Action(id, "Does \(id)", .reads) { _ in Nothing() } }

@Suite("ActionIndex")
struct ActionIndexTests {
    private struct Mail: ActionList {
        static let manifest = Manifest(id: "mail", summary: "Sends mail", version: "1")
        static let actions = [
            action("mail.send").alias("post").asDefault(), action("mail.list"), action("mail.folder.list").asDefault(),
            action("mail.debug").hidden(),
        ]
    }

    @Test("Actions are found by id and by alias, with their owner")
    func lookup() throws {
        let index = try compose([Mail.self]).registry.actions
        #expect(index.all.map(\.id) == ["mail.send", "mail.list", "mail.folder.list", "mail.debug"])
        #expect(index["mail.list"]?.id == "mail.list")
        #expect(index["post"]?.id == "mail.send")
        #expect(index["send"] == nil)
        #expect(try index.find("post").id == "mail.send")
        #expect(try index.owner(of: index.find("mail.folder.list")) == "mail")
        #expect(index.owner(of: action("mail.other")) == nil)
    }

    @Test("The nearest action is suggested, and never a hidden one")
    func suggestion() throws {
        let index = try compose([Mail.self]).registry.actions
        #expect(throws: RegistryError.noAction("mail.lits", suggestion: "mail.list")) { try index.find("mail.lits") }
        #expect(throws: RegistryError.noAction("mail.debgu", suggestion: nil)) { try index.find("mail.debgu") }
        #expect(try index.find("mail.debug").isHidden)
    }

    @Test("A duplicate id is refused, within one feature or across two, and one of them stays")
    func duplicates() throws {
        struct Other: ActionList {
            static let manifest = Manifest(id: "other", summary: "X", version: "1", namespaces: ["other", "mail"])
            static let actions = [action("mail.list"), action("other.do"), action("other.do")]
        }
        let composition = try compose([Mail.self, Other.self])
        #expect(
            composition.complaints == [
                "other declares the action mail.list, and so does mail",
                "other declares the action other.do, and so does other",
            ])
        #expect(composition.problems.allSatisfy { $0.code == .duplicateAction })
        #expect(composition.registry.actions["mail.list"] != nil)
    }

    @Test("An alias that is taken, or is the first word of other actions, is refused")
    func aliases() throws {
        struct Other: ActionList {
            static let manifest = Manifest(id: "other", summary: "X", version: "1")
            static let actions = [action("other.do").alias("post"), action("other.look").alias("mail")]
        }
        #expect(
            try compose([Mail.self, Other.self]).complaints == [
                "other gives other.do the alias post, which another action has",
                "other gives other.look the alias mail, which is the first word of other actions",
            ])
    }

    @Test("A second default of a group is refused")
    func defaults() throws {
        struct Two: ActionList {
            static let manifest = Manifest(id: "two", summary: "X", version: "1")
            static let actions = [
                action("two.a").asDefault(), action("two.b").asDefault(), action("two.c.d").asDefault(),
            ]
        }
        #expect(try compose([Two.self]).complaints == ["two makes two.b the default of two, which already has two.a"])
    }

    @Test("An id outside its feature's namespaces is refused")
    func namespaces() throws {
        struct Wide: ActionList {
            static let manifest = Manifest(id: "wide", summary: "X", version: "1", namespaces: ["config", "doctor"])
            static let actions = [action("config.show"), action("doctor"), action("doctors.list"), action("wide.do")]
        }
        struct Narrow: ActionList {
            static let manifest = Manifest(id: "narrow", summary: "X", version: "1")
            static let actions = [action("narrow"), action("narrow.do"), action("narrower.do"), action("do")]
        }
        #expect(
            try compose([Wide.self, Narrow.self]).problems.map { "\($0.code) \($0.description)" } == [
                "malformed wide declares the action doctors.list, whose id does not begin with wide.",
                "malformed wide declares the action wide.do, whose id does not begin with wide.",
                "malformed narrow declares the action narrower.do, whose id does not begin with narrow.",
                "malformed narrow declares the action do, whose id does not begin with narrow.",
            ])
    }
}
