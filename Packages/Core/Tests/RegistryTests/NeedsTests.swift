import Capabilities
import Registry
import Settings
import Testing

@Suite("Unmet needs")
struct NeedsTests {
    @Test("An unmet need names the feature that is switched off, and how to switch it on")
    func switchedOff() throws {
        let composition = try compose(
            [Link<Alpha, Beta>.self, Source<Beta>.self], settings: "{features: {beta: false}}")
        #expect(
            composition.complaints == [
                "alpha needs Beta, which nothing provides; beta provides it and is off: "
                    + "martlet config set features.beta true"
            ])
        #expect(composition.problems.first?.code == .missing)
        #expect(composition.problems.first?.feature == "alpha")
        #expect(composition.off.map(\.id) == ["beta"])
        #expect(composition.off.first?.reason == "switched off (user.json); martlet config set features.beta true")
        #expect(composition.off.first?.summary == "A source")
    }

    @Test("An unmet need names the feature that --only leaves out")
    func leftOut() throws {
        let composition = try compose([Link<Alpha, Beta>.self, Source<Beta>.self], only: ["alpha"])
        #expect(
            composition.complaints
                == ["alpha needs Beta, which nothing provides; beta provides it and is off: add beta to --only"])
        #expect(composition.off.map(\.reason) == ["left out by --only"])
    }

    @Test("An unmet need names the trait that adds the feature to the build")
    func notBuilt() throws {
        let list = [BuiltInFeature(Link<Alpha, Beta>.self), BuiltInFeature(trait: "Beta", provides: "Beta") {}]
        let composition = Composition(list)
        #expect(
            composition.complaints == [
                "alpha needs Beta, which nothing provides; Beta provides it and is not in this build: "
                    + "build with 'make build TRAITS=Link<Alpha, Beta>,Beta'"
            ])
        #expect(composition.off.map(\.id) == ["beta"])
        #expect(
            composition.off.map(\.reason) == [
                "not in this build; build with 'make build TRAITS=Link<Alpha, Beta>,Beta'"
            ])
    }

    @Test("An unmet need that no known feature meets says so")
    func unknown() throws {
        #expect(
            try compose([Link<Alpha, Beta>.self]).complaints == [
                "alpha needs Beta, which nothing provides; no feature known here provides it: add one, "
                    + "or switch alpha off with 'martlet config set features.alpha false'"
            ])
    }

    @Test("An unmet need names every way to meet it")
    func several() throws {
        let list = [
            BuiltInFeature(Link<Alpha, Beta>.self), BuiltInFeature(Source<Beta>.self),
            BuiltInFeature(trait: "Spare", provides: "Alpha", "Beta") {},
        ]
        let off = try settings("{features: {beta: false}}", for: [Link<Alpha, Beta>.self, Source<Beta>.self])
        #expect(
            Composition(list, settings: off).complaints == [
                "alpha needs Beta, which nothing provides; beta provides it and is off: martlet config set features.beta true; "
                    + "or Spare provides it and is not in this build: build with "
                    + "'make build TRAITS=Link<Alpha, Beta>,Source<Beta>,Spare'"
            ])
    }

    @Test("An unmet optional need is not a problem")
    func optional() throws {
        let composition = try compose([Loose<Alpha, Beta>.self])
        #expect(composition.complaints.isEmpty)
        #expect(composition.registry.optional(Beta.self) == nil)
    }

    @Test("The needs of a feature that is off do not matter")
    func offNeeds() throws {
        let composition = try compose([Link<Alpha, Beta>.self], settings: "{features: {alpha: false}}")
        #expect(composition.complaints.isEmpty)
        #expect(composition.order.isEmpty)
    }

    @Test("The host's own features cannot be switched off")
    func essential() throws {
        let off = try settings("{features: {beta: false}}", for: [Source<Beta>.self])
        let composition = Composition(
            [BuiltInFeature(essential: Source<Beta>.self), BuiltInFeature(Link<Alpha, Beta>.self)], settings: off,
            selection: .init(only: ["alpha"]))
        #expect(composition.complaints.isEmpty)
        #expect(composition.order == ["beta", "alpha"])
    }

    @Test("An unknown name in --only gets a suggestion")
    func unknownOnly() throws {
        let composition = try compose([Source<Alpha>.self, Source<Beta>.self], only: ["alhpa", "beta", "zebra"])
        #expect(
            composition.complaints == [
                "alhpa is not a feature of this build; did you mean 'alpha'?; see 'martlet features'",
                "zebra is not a feature of this build; see 'martlet features'",
            ])
        #expect(composition.problems.map(\.code) == [.unknownFeature, .unknownFeature])
        #expect(composition.order == ["beta"])
    }
}
