import Capabilities
import Registry
import Settings
import Testing

/// Offers a greeting as one of any number.
private struct First: PlainFeature {
    static let manifest = Manifest(
        id: "first", summary: "Greets", version: "1", provides: [.shared((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "hello"))
    }
}

/// Offers two more.
private struct Second: PlainFeature {
    static let manifest = Manifest(
        id: "second", summary: "Greets twice", version: "1", provides: [.shared((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "good day"))
        registry.provide((any Greeter).self, Greeting(greeting: "good night"))
    }
}

/// Must be the only one.
private struct Sole: PlainFeature {
    static let manifest = Manifest(
        id: "sole", summary: "Greets alone", version: "1", provides: [.single((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "hey"))
    }
}

/// Greets where nobody else does.
private struct Reserve: PlainFeature {
    static let manifest = Manifest(
        id: "reserve", summary: "Greets if it must", version: "1", provides: [.fallback((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) { registry.provide((any Greeter).self, Greeting(greeting: "…")) }
}

/// Wants exactly one.
private struct Guest: PlainFeature {
    static let manifest = Manifest(
        id: "guest", summary: "Is greeted", version: "1", needs: [.one((any Greeter).self)])
}

/// Serves itself where nobody else does.
private struct SelfServing: PlainFeature {
    static let manifest = Manifest(
        id: "self", summary: "Greets itself", version: "1", provides: [.fallback((any Greeter).self)],
        needs: [.one((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) { registry.provide((any Greeter).self, Greeting(greeting: "me")) }
}

@Suite("Providers of a capability")
struct ProvidersTests {
    private func greetings(_ types: [any Feature.Type]) throws -> [String] {
        let composition = try compose(types)
        #expect(composition.complaints.isEmpty)
        return composition.registry.all((any Greeter).self).map(\.greeting)
    }

    @Test("are found one, optionally and all, in the order of the features")
    func lookups() throws {
        let registry = try compose([Second.self, First.self]).registry
        #expect(registry.all((any Greeter).self).map(\.greeting) == ["good day", "good night", "hello"])
        #expect(try registry.one((any Greeter).self).greeting == "good day")
        #expect(registry.optional((any Greeter).self)?.greeting == "good day")
    }

    @Test("that do not exist are nil, none, or an error with the capability's name")
    func missing() throws {
        let registry = try compose([]).registry
        #expect(registry.all((any Greeter).self).isEmpty)
        #expect(registry.optional((any Greeter).self) == nil)
        let error = #expect(throws: RegistryError.self) { try registry.one((any Greeter).self) }
        #expect(error?.code == "registry.missing-capability")
        #expect(error?.exit == .usage)
        #expect(error?.message == "nothing provides Greeter here; 'martlet features' shows which features are on")
    }

    @Test("that fall back are used only where there is no other")
    func fallback() throws {
        #expect(try greetings([Reserve.self]) == ["…"])
        #expect(try greetings([Reserve.self, First.self]) == ["hello"])
        #expect(try greetings([Sole.self, Reserve.self]) == ["hey"])
        #expect(try greetings([Reserve.self, Guest.self]) == ["…"])
        #expect(try greetings([SelfServing.self]) == ["me"])
        #expect(try greetings([SelfServing.self, First.self]) == ["hello"])
    }

    @Test("that must be alone are refused beside others, each other one by name")
    func single() throws {
        let composition = try compose([First.self, Sole.self, Second.self])
        #expect(
            composition.complaints == [
                "first provides Greeter, of which there can be one only and sole is it; "
                    + "switch one of them off with 'martlet config set features.first false'",
                "second provides Greeter, of which there can be one only and sole is it; "
                    + "switch one of them off with 'martlet config set features.second false'",
            ])
        #expect(composition.problems.allSatisfy { $0.code == .ambiguous })
    }

    @Test("of a shared capability may be many, except for who needs exactly one")
    func ambiguous() throws {
        #expect(try greetings([First.self, Second.self]).count == 3)
        #expect(
            try compose([First.self, Second.self, Guest.self]).complaints
                == ["guest needs one Greeter and first, second all provide one; switch off all but one"])
        #expect(try greetings([First.self, Guest.self]) == ["hello"])
    }

    @Test("that are twice the same mark are told once")
    func twice() throws {
        struct Other: PlainFeature {
            static let manifest = Manifest(id: "other", summary: "X", version: "1", provides: [.single(Alpha.self)])
            func register(in registry: inout RegistryBuilder) { registry.provide(Alpha.self, Alpha()) }
        }
        let composition = try compose([Source<Alpha>.self, Other.self, Link<Beta, Alpha>.self])
        #expect(composition.problems.map(\.code) == [.ambiguous])
        #expect(composition.problems.map(\.feature) == ["other"])
    }
}
